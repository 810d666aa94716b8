// A program that imports the address grammar needs its values too.
@_exported public import OnesheetValues
