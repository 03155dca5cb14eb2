package operate

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// digestOf tells settings from others, whatever their order, and without whether the job is disabled.
func digestOf(text string) string { return digest(text, false) }

// digest is [digestOf], and tells disabled settings from others if it is to.
func digest(text string, disabled bool) string {
	if cfg, err := jobtree.DecodeConfig(registry.Node{Value: text}); err == nil {
		cfg.Disabled = cfg.Disabled && disabled
		if plain, err := jobtree.EncodeConfig(cfg); err == nil {
			text = plain
		}
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
