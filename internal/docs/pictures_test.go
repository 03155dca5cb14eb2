package docs_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every picture is a well-formed SVG that says in words what it shows, brings its own background for light and dark,
// and loads nothing.
func TestPictures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(root + "/docs/pictures/*.svg")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			elements := elementsOf(t, string(text))
			require.Equal(t, "svg", elements[0].name)
			require.Equal(t, "img", elements[0].attributes["role"])
			require.NotEmpty(t, elements[0].attributes["viewBox"])
			require.Equal(t, []string{"title", "desc"}, []string{elements[1].name, elements[2].name})
			for _, e := range elements {
				require.NotContains(t, []string{"script", "foreignObject", "image", "use"}, e.name)
				for name, value := range e.attributes {
					require.False(t, strings.HasPrefix(name, "on") || name == "href", "%s has %s", e.name, name)
					require.True(t, strings.HasPrefix(name, "xmlns") || !strings.Contains(value, "//"), "%s has %s=%q", e.name, name, value)
				}
			}
			light, dark := palettes(t, string(text))
			for _, palette := range []map[string]string{light, dark} {
				for _, front := range []string{"ink", "soft", "accent", "bad"} {
					for _, ground := range []string{"paper", "panel"} {
						got := contrast(t, palette[front], palette[ground])
						require.GreaterOrEqual(t, got, 4.5, "%s on %s: %v", front, ground, palette)
					}
				}
			}
		})
	}
}

// Every picture of docs/pictures is on a page.
func TestPicturesAreShown(t *testing.T) {
	t.Parallel()
	shown := make(map[string]bool)
	for _, page := range pages(t) {
		for _, l := range page.Links {
			if l.Picture {
				shown[filepath.Base(l.Target)] = true
			}
		}
	}
	files, err := filepath.Glob(root + "/docs/pictures/*")
	require.NoError(t, err)
	for _, file := range files {
		require.True(t, shown[filepath.Base(file)], "%s is on no page", file)
	}
}

type element struct {
	name       string
	attributes map[string]string
}

func elementsOf(t *testing.T, text string) (all []element) {
	t.Helper()
	reader := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := reader.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			e := element{start.Name.Local, make(map[string]string)}
			for _, a := range start.Attr {
				name := a.Name.Local
				if a.Name.Space == "xmlns" {
					name = "xmlns:" + name
				}
				e.attributes[name] = a.Value
			}
			all = append(all, e)
		}
	}
}

// colour is a rule of a picture's style such as `--ink: #1f2933;`.
var colour = regexp.MustCompile(`--(\w+): *(#[0-9a-f]{6})`)

// palettes returns the colours of a picture by day and by night.
func palettes(t *testing.T, text string) (light, dark map[string]string) {
	t.Helper()
	day, night, found := strings.Cut(text, "@media (prefers-color-scheme: dark)")
	require.True(t, found, "the picture has no colours for the night")
	of := func(part string) map[string]string {
		colours := make(map[string]string)
		for _, m := range colour.FindAllStringSubmatch(part, -1) {
			colours[m[1]] = m[2]
		}
		return colours
	}
	return of(day), of(night)
}

// contrast is that of WCAG 2: from 1 to 21; text should have 4.5.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	require.Len(t, colour, 7, "a colour is missing")
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		require.NoError(t, err)
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

func TestContrast(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 21, contrast(t, "#ffffff", "#000000"), 0.01)
	require.InDelta(t, 4.48, contrast(t, "#777777", "#ffffff"), 0.01)
}
