package proving

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/ship"
)

// An operator is one of several that are proved together.
type operator struct {
	Name           string            `yaml:"name"`
	Command        []string          `yaml:"command"`
	ServiceAccount string            `yaml:"serviceAccount"`
	Env            map[string]string `yaml:"env"` // over that of all operators
}

// account is who a ServiceAccount NAMESPACE/NAME is; it has no name if that is empty.
func account(name string) prove.Identity {
	if name == "" {
		return prove.Identity{}
	}
	namespace, own := filepath.Split(name)
	return prove.Identity(clusterctl.ServiceAccount(filepath.Clean(namespace), own))
}

// team are the operators with who they are, and what lets those without a ServiceAccount do everything.
func (b *bench) team(ctx context.Context, cluster *ship.Cluster, ports *strings.Replacer) (team []prove.Operator, err error) {
	if len(b.operators) == 0 {
		only, err := b.single(ctx, cluster, ports)
		return []prove.Operator{only}, err
	}
	for _, o := range b.operators {
		team = append(team, prove.Operator{Name: o.Name, Identity: orAlmighty(account(o.ServiceAccount)), Launch: func(kubeconfig string) (prove.Process, error) {
			return b.start(program{words: o.Command, env: o.Env}, kubeconfig, ports)
		}})
	}
	return team, nil
}

// orAlmighty is who an operator is if nothing says it.
func orAlmighty(who prove.Identity) prove.Identity {
	if who.User == "" {
		return prove.Identity{User: almighty, Groups: []string{"system:authenticated"}}
	}
	return who
}

// almightyRights are the rights of operators without a ServiceAccount, if there are any.
func (b *bench) almightyRights() []*unstructured.Unstructured {
	named := b.identity.User != ""
	if len(b.operators) > 0 {
		named = !slices.ContainsFunc(b.operators, func(o operator) bool { return o.ServiceAccount == "" })
	}
	if named {
		return nil
	}
	return []*unstructured.Unstructured{rights(almighty)}
}

// variables are those of an operator, with the ports of services.
func variables(env map[string]string, ports *strings.Replacer) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+ports.Replace(env[name]))
	}
	return all
}
