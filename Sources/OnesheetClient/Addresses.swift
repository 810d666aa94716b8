// A client needs the grammar of addresses, and a program gets it with this import.
@_exported public import OnesheetAddress
