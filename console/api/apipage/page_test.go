package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

const small = `
info: {description: "What it is for.\n"}
servers: [{url: /api/v1}]
paths:
  /jobs/{job}:
    put:
      summary: Change a job
      parameters:
        - $ref: '#/components/parameters/job'
        - {name: sort, in: query, description: "what | to order by", schema: {type: string, enum: ['', name, -name], default: name}}
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 500, default: 100}}
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Job'}}}}
      responses:
        '200': {$ref: '#/components/responses/Job'}
        '304': {description: nothing is newer}
        default: {$ref: '#/components/responses/Problem'}
    get: {summary: Tell of a job, responses: {default: {description: why not}}}
components:
  parameters:
    job: {name: job, in: path, required: true, schema: {type: string, maxLength: 64}}
  responses:
    Job: {description: "the\njob", content: {application/json: {schema: {$ref: '#/components/schemas/Either'}}}}
    Problem: {description: why not}
  schemas:
    Job:
      type: object
      additionalProperties: false
      required: [name]
      properties:
        name: {type: string, description: its name}
        fires: {type: array, items: {type: string, format: date-time}}
        servers: {type: object, additionalProperties: {type: boolean}, description: by address}
        text: {type: object, additionalProperties: true}
    Either:
      oneOf: [{$ref: '#/components/schemas/Job'}, {type: integer, format: int64}]
`

const want = head + `What it is for.

All paths are below ` + "`/api/v1`" + `.

## Requests

### PUT /jobs/{job}

Change a job.

| parameter | in | type | what it is |
| --- | --- | --- | --- |
| ` + "`job`" + ` * | path | string of at most 64 bytes |  |
| ` + "`sort`" + ` | query | ` + "`name`, `-name`; default `name`" + ` | what \| to order by |
| ` + "`limit`" + ` | query | integer from 1 to 500; default ` + "`100`" + ` |  |

- Body: [Job](#job), as ` + "`application/json`" + `
- 200: the job; [Either](#either), as ` + "`application/json`" + `
- 304: nothing is newer
- Otherwise: a [problem](#problem)

### GET /jobs/{job}

Tell of a job.

- Otherwise: a [problem](#problem)

## Objects

A member that is marked * is always there.

### Job

| member | type | what it is |
| --- | --- | --- |
| ` + "`name`" + ` * | string | its name |
| ` + "`fires`" + ` | list of time (RFC 3339) |  |
| ` + "`servers`" + ` | object of boolean | by address |
| ` + "`text`" + ` | object |  |

### Either

[Job](#job) or integer.
`

func TestPage(t *testing.T) {
	t.Parallel()
	d, err := read([]byte(small))
	require.NoError(t, err)
	got, err := d.page()
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestAReferenceToNothing(t *testing.T) {
	t.Parallel()
	d, err := read([]byte(`paths: {/jobs: {get: {responses: {'200': {$ref: '#/components/responses/Jobs'}}}}}`))
	require.NoError(t, err)
	_, err = d.page()
	require.EqualError(t, err, "get /jobs: #/components/responses/Jobs names nothing")
}

func TestThePageIsCurrent(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	d, err := read(text)
	require.NoError(t, err)
	want, err := d.page()
	require.NoError(t, err)
	got, err := os.ReadFile("../../../docs/api.md")
	require.NoError(t, err)
	require.Equal(t, want, string(got), "go run ./console/api/apipage > docs/api.md")
}
