package baseline

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// Len is how many objects the baseline has.
func (b *Baseline) Len() int { return len(b.values) }

// Holds says whether a later snapshot has what the baseline has, and nothing besides but Events.
func (b *Baseline) Holds(now etcd.Snapshot) bool {
	change := b.Difference(now)
	return len(change.Put) == 0 && !slices.ContainsFunc(change.Remove, func(o Object) bool { return !b.among(passing, o.Key) })
}

// Missing lists what controllers put into each namespace by themselves and did not do yet: the
// default service account and the authority. A namespace that is being deleted gets nothing any more.
func (b *Baseline) Missing() []string {
	return b.without("/namespaces/", func(name string, o Object) []string {
		if o.Deleting {
			return nil
		}
		return []string{"/serviceaccounts/" + name + "/default", "/configmaps/" + name + "/kube-root-ca.crt"}
	})
}

// Undecided lists what the API server has not done yet about the baseline's CRDs: for each it writes down
// whether it serves it, and for each version of one there is an APIService.
func (b *Baseline) Undecided() []string {
	const crds = "/apiextensions.k8s.io/customresourcedefinitions/"
	missing := b.without(crds, func(_ string, o Object) []string {
		var own []string
		for _, r := range o.Defines {
			own = append(own, "/apiregistration.k8s.io/apiservices/"+r.Version+"."+r.Group)
		}
		return own
	})
	for key, value := range b.values {
		if strings.HasPrefix(key, b.prefix+crds) && !decided(value) {
			missing = append(missing, key)
		}
	}
	return missing
}

// without lists the keys that belong to objects below a folder and are not there. The keys that
// own returns have no prefix.
func (b *Baseline) without(folder string, own func(name string, o Object) []string) (missing []string) {
	for key, value := range b.values {
		name, ok := strings.CutPrefix(key, b.prefix+folder)
		if !ok {
			continue
		}
		for _, k := range own(name, b.object(etcd.Pair{Key: []byte(key), Value: value})) {
			if _, there := b.values[b.prefix+k]; !there {
				missing = append(missing, b.prefix+k)
			}
		}
	}
	return missing
}

// decided says whether a CRD is served, or refused for good.
func decided(crd []byte) bool {
	all := conditions(crd)
	return all["Established"] == "True" || all["NamesAccepted"] == "False"
}

// conditions are the states of a CRD's conditions.
func conditions(crd []byte) map[string]string {
	var object struct {
		Status struct {
			Conditions []struct{ Type, Status string } `json:"conditions"`
		} `json:"status"`
	}
	if json.Unmarshal(crd, &object) != nil {
		return nil
	}
	all := make(map[string]string, len(object.Status.Conditions))
	for _, c := range object.Status.Conditions {
		all[c.Type] = c.Status
	}
	return all
}
