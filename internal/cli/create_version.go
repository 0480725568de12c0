package cli

import (
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// noteConversion says that a kind whose versions are converted has one that is not yet: its manager
// would not start.
func (inv *invocation) noteConversion(root string, api scaffold.API) error {
	p, err := scaffold.ReadProject(root)
	if err != nil {
		return err
	}
	for _, hub := range p.Resources {
		if hub.Group != api.Group || hub.Kind != api.Kind || hub.Version == api.Version || hub.Webhooks == nil || !hub.Webhooks.Conversion || slices.Contains(hub.Webhooks.Spoke, api.Version) {
			continue
		}
		inv.handler.Handle(report.Note{Text: fmt.Sprintf(
			"The versions of %s are converted, and %s is not one of them yet: the manager starts once it is.\n  try:   slipway create webhook --group %s --version %s --kind %s --conversion --spoke %s",
			api.Kind, api.Version, hub.Group, hub.Version, hub.Kind, api.Version)})
	}
	return nil
}
