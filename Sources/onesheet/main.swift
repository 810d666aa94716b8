import OnesheetCommands
import StandardPlugins

// A server of your own is this file in a package of yours, with your plugins added to the standard ones.
Onesheet.main(.standard)
