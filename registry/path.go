package registry

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Root is the path of the namespace itself. It can be listed and viewed, not written.
const Root = "/"

// CheckPath tells whether path names a node below the root, as the package documentation defines
// it. The error is [ErrInvalid] and says which rule was broken.
func CheckPath(path string) error {
	switch {
	case path == "" || path[0] != '/':
		return pathError(path, "must start with a slash")
	case path == Root:
		return pathError(path, "the root of the namespace holds no value")
	case strings.HasSuffix(path, "/"):
		return pathError(path, "must not end with a slash")
	case !utf8.ValidString(path):
		return pathError(path, "must be valid UTF-8")
	case strings.ContainsFunc(path, unicode.IsControl):
		return pathError(path, "must not contain control characters")
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		switch segment {
		case "":
			return pathError(path, "must not have an empty segment")
		case ".", "..":
			return pathError(path, "must not have a segment . or ..")
		}
	}
	return nil
}

func pathError(path, rule string) error {
	return fmt.Errorf("%w: path %q %s", ErrInvalid, path, rule)
}

// Within tells whether path is the node at root or lies below it. It compares whole segments:
// "/a/10" is not within "/a/1".
func Within(path, root string) bool {
	if root == Root {
		return true
	}
	return strings.HasPrefix(path, root) && (len(path) == len(root) || path[len(root)] == '/')
}
