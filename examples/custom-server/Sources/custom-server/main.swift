import OnesheetCore
import OnesheetCommands
import ProgrammeSource
import SharedFolderTier
import StandardPlugins

// Onesheet's own main with two more plugins.
var plugins = PluginList.standard
plugins.sources.append(ProgrammeSource.self)
plugins.tiers.append(SharedFolderTier.self)
Onesheet.main(plugins)
