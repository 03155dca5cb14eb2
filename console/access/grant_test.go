package access

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMay(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		grants    []Grant
		action    Action
		namespace string
		job       string
		may       bool
	}{
		"nobody":                                {nil, Read, "shop", "orders", false},
		"a viewer reads":                        {[]Grant{{Viewer, "shop", ""}}, Read, "shop", "orders", true},
		"a viewer does not operate":             {[]Grant{{Viewer, "shop", ""}}, Operate, "shop", "orders", false},
		"an operator does not administer":       {[]Grant{{Operator, "shop", ""}}, Administer, "shop", "orders", false},
		"an operator operates":                  {[]Grant{{Operator, "shop", ""}}, Operate, "shop", "orders", true},
		"an admin administers":                  {[]Grant{{Admin, "shop", ""}}, Administer, "shop", "orders", true},
		"of another namespace":                  {[]Grant{{Admin, "shop", ""}}, Read, "bank", "orders", false},
		"of all namespaces":                     {[]Grant{{Admin, "*", ""}}, Administer, "bank", "orders", true},
		"of no namespace":                       {[]Grant{{Admin, "shop", ""}}, Read, "", "orders", false},
		"of some jobs, one of them":             {[]Grant{{Viewer, "shop", "orders-*"}}, Read, "shop", "orders-mail", true},
		"of some jobs, another":                 {[]Grant{{Viewer, "shop", "orders-*"}}, Read, "shop", "mail", false},
		"of some jobs, the namespace":           {[]Grant{{Viewer, "shop", "orders-*"}}, Read, "shop", "", false},
		"of all jobs, the namespace":            {[]Grant{{Viewer, "shop", "*"}}, Read, "shop", "", true},
		"a pattern that would match no name":    {[]Grant{{Viewer, "shop", "?*"}}, Read, "shop", "", false},
		"two grants do not mix their roles":     {[]Grant{{Viewer, "shop", ""}, {Admin, "shop", "mail"}}, Operate, "shop", "orders", false},
		"two grants add up":                     {[]Grant{{Viewer, "shop", ""}, {Admin, "shop", "mail"}}, Administer, "shop", "mail", true},
		"an unknown role may nothing":           {[]Grant{{"root", "*", ""}}, Read, "shop", "orders", false},
		"an action that there is not":           {[]Grant{{Admin, "*", ""}}, "delete", "shop", "orders", false},
		"the name of a job that looks like all": {[]Grant{{Viewer, "shop", "orders"}}, Read, "shop", "*", false},
	} {
		require.Equal(t, row.may, Identity{Grants: row.grants}.May(row.action, row.namespace, row.job), name)
	}
}

// What somebody may do never exceeds one of their grants, and who may do more may do less.
func TestMayIsWithinTheGrants(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{"", "a", "ab", "b"})
	patterns := rapid.SampledFrom([]string{"", "*", "a*", "b", "?"})
	rapid.Check(t, func(t *rapid.T) {
		grants := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Grant {
			return Grant{rapid.SampledFrom(Roles()).Draw(t, "role"), rapid.SampledFrom([]string{"*", "a", "b"}).Draw(t, "namespace"), patterns.Draw(t, "jobs")}
		}), 0, 4).Draw(t, "grants")
		who := Identity{Grants: grants}
		namespace, job := names.Draw(t, "namespace"), names.Draw(t, "job")
		read, operate, administer := who.May(Read, namespace, job), who.May(Operate, namespace, job), who.May(Administer, namespace, job)
		require.False(t, operate && !read || administer && !operate)
		require.Equal(t, slices.ContainsFunc(grants, func(g Grant) bool { return Identity{Grants: []Grant{g}}.May(Read, namespace, job) }), read)
		require.Equal(t, who.May(Read, namespace, ""), who.Scope(namespace) == "*")
		if read {
			require.True(t, who.Sees(namespace))
			require.NotEmpty(t, who.Scope(namespace))
		}
		require.Equal(t, who.Sees(namespace), who.Scope(namespace) != "")
	})
}

func TestScope(t *testing.T) {
	t.Parallel()
	one := Identity{Grants: []Grant{{Viewer, "shop", "b*"}, {Operator, "shop", "a*"}, {Viewer, "shop", "b*"}, {Viewer, "bank", "*"}}}
	other := Identity{Grants: []Grant{{Viewer, "shop", "a*"}, {Admin, "shop", "b*"}}}
	require.Equal(t, "a*\x00b*", one.Scope("shop"))
	require.Equal(t, one.Scope("shop"), other.Scope("shop"), "whoever sees the same has the same scope")
	require.Equal(t, "*", one.Scope("bank"))
	require.Empty(t, one.Scope("none"))
	require.Equal(t, []Role{Viewer, Operator}, one.Roles())
}

func TestAnIdentityEnds(t *testing.T) {
	t.Parallel()
	now := time.Now()
	require.False(t, Identity{}.Valid(now), "nobody")
	require.True(t, Identity{Name: "anna"}.Valid(now))
	require.False(t, Identity{Name: "anna", Until: now}.Valid(now))
	require.False(t, Identity{Name: "anna", look: func() ([]Grant, bool) { return nil, false }}.Valid(now))
	require.Equal(t, Identity{}, FromContext(t.Context()))
	require.Equal(t, "anna", FromContext(NewContext(t.Context(), Identity{Name: "anna"})).Name)
}
