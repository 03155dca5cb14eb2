package recorder

// Executions are what a change tells.
var Executions = executions
