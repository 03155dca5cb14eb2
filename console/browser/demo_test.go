package browser

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// pictureFor names the file that the picture of the README goes to, if it is set:
//
//	CONSOLE_README=../../docs/console.png go test ./... -run TestTheDemo
const pictureFor = "CONSOLE_README"

var demoAddress = regexp.MustCompile(`the console is at (http://\S+/)`)

// `elasticron demo --console` shows its cluster in a browser: a process is killed, and another takes over what it ran.
func TestTheDemo(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "elasticron")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/elasticron")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	demo := exec.CommandContext(t.Context(), program, "demo", "--console=127.0.0.1:0", "--keep")
	demo.Cancel = func() error { return demo.Process.Signal(os.Interrupt) }
	says, err := demo.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, demo.Start())
	t.Cleanup(func() { _ = demo.Process.Signal(os.Interrupt); _ = demo.Wait() })

	address := ""
	lines := bufio.NewScanner(says)
	for address == "" && lines.Scan() {
		if found := demoAddress.FindStringSubmatch(lines.Text()); found != nil {
			address = found[1]
		}
	}
	require.NotEmpty(t, address, "the demo did not say where its console is")
	go func() {
		for lines.Scan() { // so that it does not wait for a reader
		}
	}()

	tab := look(t)
	tab.open(address)
	tab.sees("#counts", "job")
	tab.open(address + "ns/demo/jobs")
	tab.click("#rows a", "")
	tab.live()
	tab.click(".segments label", "1 min")
	tab.until(`document.querySelectorAll(".span[data-key].success").length > 6`)
	tab.until(`document.querySelector("#log .lost, #log .failover")`) // and not its span, which moves out of the minute
	if file := os.Getenv(pictureFor); file != "" {
		tab.until(`document.querySelectorAll(".span[data-key].success").length > 240`) // so that there is something to look at
		tab.size(1280, 800)
		tab.settled()
		png, err := chromedp.Run(tab.ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, png, 0o644))
	}
}
