package clusterfile

import (
	"cmp"
	"maps"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// Over returns the cluster that s describes and, where it says nothing, base does.
// Feature gates and the like add up, and those of s win.
func Over(s, base protocol.Spec) protocol.Spec {
	s.Port, s.RegistryPort = cmp.Or(s.Port, base.Port), cmp.Or(s.RegistryPort, base.RegistryPort)
	s.Durable = s.Durable || base.Durable
	if s.Nodes == nil {
		s.Nodes = base.Nodes
	}
	s.NodeKind = cmp.Or(s.NodeKind, base.NodeKind)
	s.SimulateMissingImages = cmp.Or(s.SimulateMissingImages, base.SimulateMissingImages)
	s.Controllers = cmp.Or(s.Controllers, base.Controllers)
	s.FeatureGates = merged(base.FeatureGates, s.FeatureGates)
	s.RuntimeConfig = merged(base.RuntimeConfig, s.RuntimeConfig)
	s.APIServerFlags = append(base.APIServerFlags[:len(base.APIServerFlags):len(base.APIServerFlags)], s.APIServerFlags...)
	return s
}

func merged[V any](base, over map[string]V) map[string]V {
	if len(base) == 0 {
		return over
	}
	all := maps.Clone(base)
	maps.Copy(all, over)
	return all
}
