package live

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
)

// Over HTTP/2, a stream on which nothing happens for longer than a write may take goes on.
func TestAQuietStreamOverHTTP2(t *testing.T) {
	t.Parallel()
	h := opened(t, Config{Registry: newStore(t, "orders")})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Events().ServeHTTP(w, r.WithContext(access.NewContext(r.Context(), anna)))
	}))
	server.EnableHTTP2 = true
	server.Config.WriteTimeout = writeWithin - time.Second // of other answers
	server.StartTLS()
	t.Cleanup(server.Close)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"?topic=jobs", nil)
	require.NoError(t, err)
	resp, err := server.Client().Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	require.Equal(t, 2, resp.ProtoMajor)
	lines := bufio.NewReader(resp.Body)
	alive := 0
	for began := time.Now(); time.Since(began) < 3*writeWithin && alive < 3; {
		line, err := lines.ReadString('\n')
		require.NoError(t, err, "the stream broke after %s", time.Since(began))
		if strings.HasPrefix(line, "event: alive") {
			alive++
		}
	}
	require.NotZero(t, alive)
}
