package webcall

import (
	"maps"
	"net/http"
	"slices"
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

// httpsOwn are the headers that HTTP sets by itself. Package net/http drops what else asks for them.
var httpsOwn = []string{"Content-Length", "Transfer-Encoding", "Trailer"}

// AddHeaders adds the settings below a prefix to headers, and notes those that cannot be sent, or would not be, so that this is
// found before the first call. The caller's own are set later. One of Host says which host a request names; see [SetHeaders].
func AddHeaders(to http.Header, settings Settings, prefix string, own ...string) {
	values, taken := settings.Below(prefix), make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, header := values[name], http.CanonicalHeaderKey(name)
		is := func(other string) bool { return strings.EqualFold(other, name) }
		switch other, again := taken[header]; {
		case slices.ContainsFunc(httpsOwn, is):
			settings.Fault(prefix+name, "must not be there: HTTP sets this header by itself")
		case slices.ContainsFunc(own, is):
			settings.Fault(prefix+name, "must not be there: this header is set by each call")
		case again:
			settings.Fault(prefix+name, "must not be there beside "+prefix+other+": the case of a header does not count, and one of them would be lost")
		}
		taken[header] = name
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
