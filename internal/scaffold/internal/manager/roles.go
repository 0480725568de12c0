package manager

import (
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

const RoleBindingFile = "config/rbac/role_binding.yaml"

var (
	bindsRole        = lazy.Regexp(`(?m)^kind:\s*RoleBinding\s*$`)
	bindsClusterRole = lazy.Regexp(`(?m)^kind:\s*ClusterRoleBinding\s*$`)
)

// RolesByMarkers reports whether the project was made by another tool for one namespace:
// then each permission marker names it. A manager with permissions in the whole cluster besides was not.
func RolesByMarkers(p *plan.Plan) (bool, error) {
	c, err := p.Find(RoleBindingFile)
	if err != nil {
		return false, err
	}
	return c.There() && bindsRole().Match(c.After()) && !bindsClusterRole().Match(c.After()), nil
}
