package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/operate/jobfile"
	"github.com/elasticron/elasticron/registry"
)

func getConfig(c *call) error {
	p := c.picture()
	n := p.State.Get(jobtree.For(c.job).Config())
	if !n.Exists() || elsewhere(p, c.job) {
		return noJobIn(p, c.job)
	}
	tag := fmt.Sprintf("%q", n.Revision.String())
	c.w.Header().Set("ETag", tag)
	if c.r.Header.Get("If-None-Match") == tag {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	answer := wire.Config{Job: c.job, Text: n.Value, Revision: n.Revision}
	if !c.secretsOf(c.job) {
		answer.Text, answer.Hidden = jobtree.Mask(n.Path, n.Value), true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(answer.Text), &members) == nil && members != nil {
		answer.Config = json.RawMessage(answer.Text)
	}
	if operated, err := jobtree.DecodeOperated(p.State.Get(jobtree.For(c.job).Operated())); err == nil && operated.Files != nil && !operated.Files.Gone {
		answer.Files = operated.Files.Owner
	}
	root := p.State.Get(jobtree.For(c.job).Root()).Value
	if cfg, err := jobtree.LayoutOfConfig(n.Value).DecodeConfig(root, n); err == nil {
		answer.Words = wordsOf(cfg.Cron)
	}
	return c.answer(http.StatusOK, answer)
}

func putConfig(c *call) error {
	revision, err := matching(c.r.Header)
	if err != nil {
		return err
	}
	asked, err := body[wire.NewConfig](c)
	switch {
	case err != nil:
		return err
	case asked.Text == "":
		return malformed("text", "it is missing, want the whole configuration")
	}
	s := operate.Settings{Text: asked.Text, Shown: registry.Revision(revision), ShownText: asked.Base}
	return c.operates(asked.Asked, func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
		return o.ChangeSettings(ctx, c.job, s, opts)
	})
}

func createJob(c *call) error {
	asked, err := body[wire.NewJob](c)
	switch {
	case err != nil:
		return err
	case asked.Job == "" || strings.Contains(asked.Job, "/"):
		return malformed("job", "%q is given, want the name of one job", asked.Job)
	}
	if err := c.mayEach("administer", asked.Job); err != nil {
		return err
	}
	job := jobfile.Job{Name: asked.Job, Config: asked.Text, Servers: asked.Servers, Items: asked.Items}
	return c.operates(asked.Asked, func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
		return jobfile.Create(ctx, c.ns.Store, o, job, opts)
	})
}
