package outputs

import (
	"cmp"
	"strings"
)

// UsualWebhooks is where layouts have generated configurations of webhooks.
const UsualWebhooks = "config/webhook"

// webhooks is what a Makefile says of configurations of webhooks.
type webhooks struct {
	folders []string // one for each call; "" stands for those that a call does not write
	readers []Reader // the calls that make them
}

// Webhooks is the folder of the project's configurations of webhooks: the usual one unless none of them go there.
func (p Places) Webhooks() string {
	return cmp.Or(first(p.hooks.folders, UsualWebhooks), UsualWebhooks)
}

// WebhooksFile is the file in that folder.
func (p Places) WebhooksFile() string { return p.Webhooks() + "/manifests.yaml" }

// WebhooksPath is that file as arguments of filepath.Join.
func (p Places) WebhooksPath() string {
	return `"` + strings.ReplaceAll(p.WebhooksFile(), "/", `", "`) + `"`
}

// MissedWebhooks is a call that makes configurations of webhooks without reading a folder, where no other call reads
// it.
func (p Places) MissedWebhooks(folder string) (missed Reader, is bool) {
	return missedBy(p.hooks.readers, folder)
}
