// Package wire is what the console's HTTP API sends and takes, for its two ends: package console/api, which serves it,
// and package console/client, which asks. openapi.yaml beside the server describes the same for everybody else.
//
// Rows, plans, operations and progress are those of package operate, as JSON.
package wire
