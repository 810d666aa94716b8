// A plugin imports the core alone, and gets with it the values of addresses. They have a target of their own so that clients can use them
// without SwiftNIO.
@_exported public import OnesheetValues
