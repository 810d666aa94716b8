// OnesheetPipeline
