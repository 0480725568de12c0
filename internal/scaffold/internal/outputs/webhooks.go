package outputs

import (
	"cmp"
	"strings"
)

// UsualWebhooks is where layouts have generated configurations of webhooks.
const UsualWebhooks = "config/webhook"

// Webhooks is the folder of the project's configurations of webhooks: the usual one unless none of them go there.
func (p Places) Webhooks() string {
	return cmp.Or(first(p.hooks, UsualWebhooks), UsualWebhooks)
}

// WebhooksFile is the file in that folder.
func (p Places) WebhooksFile() string { return p.Webhooks() + "/manifests.yaml" }

// WebhooksPath is that file as arguments of filepath.Join.
func (p Places) WebhooksPath() string {
	return `"` + strings.ReplaceAll(p.WebhooksFile(), "/", `", "`) + `"`
}
