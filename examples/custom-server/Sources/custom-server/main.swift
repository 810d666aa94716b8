import OnesheetCore
import OnesheetCommands
import ProgrammeSource
import StandardPlugins

// Onesheet's own main, with one plugin more.
var plugins = PluginList.standard
plugins.sources.append(ProgrammeSource.self)
await Onesheet.main(plugins)
