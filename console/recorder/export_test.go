package recorder

// Executions are what a change tells.
var Executions = executions

// Patience is how long a sink that takes nothing holds up the others.
const Patience = patience
