package maven_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/maven"
)

// pom names one small jar without dependencies.
const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.github.elasticron</groupId>
  <artifactId>one-jar</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-api</artifactId><version>2.0.13</version></dependency>
  </dependencies>
</project>
`

func TestJarsAreFetchedOnceAndWhole(t *testing.T) {
	maven.Need(t)
	if cache, err := os.UserCacheDir(); err == nil {
		t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), filepath.Base(cache)))
	}
	var wg sync.WaitGroup
	folders, errs := make([]string, 3), make([]error, 3)
	for i := range folders {
		wg.Go(func() { folders[i], errs[i] = maven.Jars(t.Context(), "test", []byte(pom)) })
	}
	wg.Wait()
	for i, folder := range folders {
		require.NoError(t, errs[i])
		require.Equal(t, folders[0], folder)
	}
	require.FileExists(t, filepath.Join(folders[0], "slf4j-api-2.0.13.jar"))
	left, err := filepath.Glob(filepath.Join(filepath.Dir(folders[0]), "fetch-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestJarsSaysWhatMavenSaid(t *testing.T) {
	maven.Need(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, err := maven.Jars(t.Context(), "broken", []byte("<project/>"))
	require.ErrorContains(t, err, "fetch the jars of broken")
	require.ErrorContains(t, err, "modelVersion")
}

func TestNeedNamesWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	require.Equal(t, []string{"java", "javac", "mvn"}, maven.Missing())
}
