// StandardPlugins
