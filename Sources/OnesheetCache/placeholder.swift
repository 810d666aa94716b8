// OnesheetCache
