// OnesheetTesting
