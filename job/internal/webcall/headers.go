package webcall

import (
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Settings are where headers are read. A [job.PropsReader] is one.
//
// [job.PropsReader]: https://pkg.go.dev/github.com/elasticron/elasticron/job#PropsReader
type Settings interface {
	Below(prefix string) map[string]string
	Fault(name, reason string)
}

// AddHeaders adds the settings below a prefix to headers, and notes those that cannot be sent, so that this is found before
// the first call. One of Host says which host a request names; see [SetHeaders].
func AddHeaders(to http.Header, settings Settings, prefix string) {
	for name, value := range settings.Below(prefix) {
		if !httpguts.ValidHeaderFieldName(name) {
			settings.Fault(prefix+name, "must name a header: letters, digits and signs such as - and _")
		}
		if !httpguts.ValidHeaderFieldValue(value) {
			settings.Fault(prefix+name, "must be one line without control characters")
		}
		if strings.EqualFold(name, "Host") && value != "" && !IsHost(value) {
			settings.Fault(prefix+name, "must be the name of a host, or a name and a port such as shop.internal:8080")
		}
		to.Set(name, value)
	}
}

// SetHeaders gives a request a copy of headers. Of the one that names the host Go takes no notice there.
func SetHeaders(req *http.Request, headers http.Header) {
	req.Header = headers.Clone()
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
}
