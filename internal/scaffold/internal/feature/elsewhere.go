package feature

import (
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/listing"
)

// deployedElsewhere is the kustomization beside config/default that lists a feature's folder, as an overlay with
// webhooks does. It is "" where config/default has the feature's line, be it in a comment that waits for it: then the
// other one is for another purpose, unless it builds of config/default and would have the folder twice.
func (p *planner) deployedElsewhere(f Feature) (file string, err error) {
	config, err := p.Find(defaultConfig)
	if err != nil || p.Recording() || !config.There() || listedIn(config.After(), f.listed().Name) {
		return "", err
	}
	foreign, err := p.foreign(f)
	if err != nil || !foreign {
		return "", err
	}
	all, err := listing.Read(p.Plan)
	if err != nil {
		return "", err
	}
	waits := commentedItem(config.After(), f.listed().Name) > 0
	for _, folder := range all.ListedBy(path.Dir(f.component())) {
		if !waits || slices.Contains(all.Parts(folder), path.Dir(defaultConfig)) {
			return all.File(folder), nil
		}
	}
	return "", nil
}
