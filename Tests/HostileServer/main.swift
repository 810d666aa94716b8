import OnesheetCommands
import OnesheetCore
import StandardPlugins

// Onesheet's own main with a codec that attacks.
var plugins = PluginList.standard
plugins.decoders.append(HostileCodec.self)
Onesheet.main(plugins)
