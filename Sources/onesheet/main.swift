import OnesheetServer
import StandardPlugins

// A server of your own is this file with your plugins added: see examples/custom-server.
await Onesheet.main(.standard)
