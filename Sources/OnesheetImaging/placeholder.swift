// OnesheetImaging
