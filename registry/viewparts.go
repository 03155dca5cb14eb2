package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Part narrows a view in one folder: of what lies below the folder, the view shows the children named in Only, with
// all that lies below them, and nothing else. What lies beside the folder, and the folder itself, is not concerned.
type Part struct {
	Folder string
	Only   []string // names of children, in any order; none hides all that lies below the folder
}

// shows tells whether the part leaves a path in the view.
func (p Part) shows(path string) bool {
	below, inside := strings.CutPrefix(path, p.Folder)
	if !inside || !strings.HasPrefix(below, "/") {
		return true
	}
	child, _, _ := strings.Cut(below[1:], "/")
	return slices.Contains(p.Only, child)
}

// Narrower is what a [Registry] has besides if the store can send the parts of a subtree that a view shows, and
// leave the rest unsent. [ViewParts] uses it.
type Narrower interface {
	// ViewParts is as [Viewer.View], of the parts alone. It shows them as one: a transaction that changes several of
	// them is one step. What this handle itself has committed it may show a tenth of a second later than other changes,
	// unless something that came after is shown, or somebody waits for it by [View.WaitRevision].
	ViewParts(ctx context.Context, path string, parts []Part, except ...func(path string) bool) (*View, error)

	// Narrows tells whether a view that is narrowed to so many children would now spare the handle what the others'
	// changes cost. It may not where the handle follows the whole namespace anyway.
	Narrows(children int) bool
}

// ViewParts returns a view of the subtree at path that is narrowed by parts, and by except, as [Viewer.View] explains. A
// registry that is no [Narrower] sends everything, and this process leaves out what is not asked for.
//
// Errors are those of [Viewer.View], and [ErrInvalid] for a part that lies outside the subtree, or in another one.
func ViewParts(ctx context.Context, v Viewer, path string, parts []Part, except ...func(path string) bool) (*View, error) {
	if err := checkParts(path, parts); err != nil {
		return nil, &OpError{Op: OpView, Path: path, Err: err}
	}
	if n, ok := v.(Narrower); ok {
		return n.ViewParts(ctx, path, parts, except...)
	}
	return v.View(ctx, path, append(slices.Clone(except), Outside(parts))...)
}

// Outside tells of a path whether parts leave it out.
func Outside(parts []Part) func(path string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(parts, func(p Part) bool { return !p.shows(path) })
	}
}

func checkParts(root string, parts []Part) error {
	for i, p := range parts {
		if err := CheckPath(p.Folder); err != nil {
			return err
		}
		if !Within(p.Folder, root) {
			return fmt.Errorf("%w: the folder %s of a part is not below %s", ErrInvalid, p.Folder, root)
		}
		for _, child := range p.Only {
			if err := CheckPath(p.Folder + "/" + child); err != nil || strings.Contains(child, "/") {
				return fmt.Errorf("%w: %q is no name of a child of %s", ErrInvalid, child, p.Folder)
			}
		}
		for _, other := range parts[:i] {
			if Within(p.Folder, other.Folder) || Within(other.Folder, p.Folder) {
				return fmt.Errorf("%w: the folders %s and %s of two parts overlap", ErrInvalid, other.Folder, p.Folder)
			}
		}
	}
	return nil
}
