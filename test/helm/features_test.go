package helm

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
)

// switches are the values of features.
var switches = map[string]string{
	"metrics": "metrics", "prometheus": "prometheus", "alerts": "alerts", "dashboard": "dashboard", "webhook": "webhook", "certmanager": "certManager", "selfcert": "selfCert",
	"metrics-tls": "metrics.tls", "ha": "ha", "pprof": "pprof", "network-policy": "networkPolicy", "egress": "egress", "tracing": "tracing", "vap": "vap",
	"namespaced": "namespaced",
}

const kustomization = "config/default/kustomization.yaml"

// components are the features that are on.
func (p project) components() []string {
	var names []string
	for line := range strings.Lines(p.read(kustomization)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "- ../"); ok && switches[name] != "" {
			names = append(names, name)
		}
	}
	return names
}

// choices are those of n switches of which at most two are on, or at most two are off, as bits: any two meet in each
// way.
func choices(n int) []int {
	var all []int
	for choice := range 1 << n {
		if on := bits.OnesCount(uint(choice)); on <= 2 || on >= n-2 {
			all = append(all, choice)
		}
	}
	return all
}

// TestFeatureCombinations: whichever two values of features are on or off, Helm renders what kustomize builds of
// the lines that are on.
func TestFeatureCombinations(t *testing.T) {
	for _, keeper := range []string{"certmanager", "selfcert"} {
		t.Run(keeper, func(t *testing.T) {
			p := featuredProject(t, keeper)
			c := p.chart()
			on, text := p.components(), p.read(kustomization)
			if len(on) != len(switches)-1 {
				t.Fatalf("these features are on: %v", on)
			}
			for _, choice := range choices(len(on)) {
				var set, off []string
				for i, name := range on {
					enabled := choice&(1<<i) == 0
					set = append(set, fmt.Sprintf("%s.enabled=%t", switches[name], enabled))
					if !enabled {
						off = append(off, "- ../"+name+"\n")
					}
				}
				var lines []string
				for line := range strings.Lines(text) {
					if !slices.Contains(off, line) {
						lines = append(lines, line)
					}
				}
				p.write(kustomization, strings.Join(lines, ""))
				what := strings.Join(set, " ")
				rendered := p.objects(p.render(c, releaseAt{"op", "op-system"}, values(set...)))
				same(t, what, normalized(p.kustomized(), "op-system"), normalized(rendered, ""))
				if len(off) < 2 {
					p.lint(values(set...))
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// TestElsewhere: under any name and in any namespace, all names follow.
func TestElsewhere(t *testing.T) {
	for _, keeper := range []string{"certmanager", "selfcert"} {
		p := featuredProject(t, keeper)
		c, text := p.chart(), p.read(kustomization)
		for _, r := range []releaseAt{{"zeta", "elsewhere"}, {"my-op", "my-op"}, {"a-release-of-a-name-that-is-as-long-as-helm-permits-i", "b"}} {
			prefix := r.prefix("op")
			if limit := 63 - len("-controller-manager-metrics-service"); len(prefix) > limit {
				prefix = strings.TrimSuffix(prefix[:limit], "-")
			}
			edited := strings.NewReplacer("namespace: op-system", fmt.Sprintf("namespace: %q", r.namespace), "namePrefix: op-", fmt.Sprintf("namePrefix: %q", prefix+"-")).Replace(text)
			p.write(kustomization, edited)
			rendered := p.render(c, r, nil)
			if strings.Contains(rendered, "op-system") {
				t.Errorf("%v: a name did not follow", r)
			}
			same(t, fmt.Sprint(keeper, r), normalized(p.kustomized(), r.namespace), normalized(p.objects(rendered), ""))
		}
	}
}

// TestNamesLikeNumbers: what looks like a number in YAML stays a name. Kustomize itself makes numbers of some.
func TestNamesLikeNumbers(t *testing.T) {
	p := featuredProject(t, "certmanager")
	c := p.chart()
	for _, name := range []string{"42", "1e3", "0x2a", "null", "true"} {
		for _, o := range p.objects(p.render(c, releaseAt{name, name}, nil)) {
			names(o, func(path string, value any) {
				if _, ok := value.(string); !ok {
					t.Errorf("%s: %s of %v %v is %v", name, path, o["kind"], o["metadata"], value)
				}
			})
		}
	}
}

// names yields what is a name or a label below a value.
func names(value any, yield func(path string, value any)) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			switch key {
			case "name", "namespace", "serviceAccountName", "secretName", "app.kubernetes.io/instance", "cert-manager.io/inject-ca-from":
				yield(key, inner)
			case "schema", "properties": // of CRDs: fields of these names
			default:
				names(inner, yield)
			}
		}
	case []any:
		for _, inner := range value {
			names(inner, yield)
		}
	}
}

// TestReplicas: the number that the user sets goes before the feature's, also when it is none.
func TestReplicas(t *testing.T) {
	p := newProject(t)
	p.call("edit", "--enable", "ha")
	c := p.chart()
	for set, want := range map[any]string{nil: "replicas: 2", "": "replicas: 2", 3: "replicas: 3", 0: "replicas: 0"} {
		for _, on := range []bool{true, false} {
			if !on && want == "replicas: 2" {
				want = "replicas: 1"
			}
			rendered := p.render(c, releaseAt{"op", "op-system"}, map[string]any{"manager": map[string]any{"replicas": set}, "ha": map[string]any{"enabled": on}})
			if strings.Count(rendered, "replicas:") != 1 || !strings.Contains(rendered, want+"\n") {
				t.Errorf("with %v and ha %t there is no %q:\n%s", set, on, want, rendered)
			}
		}
	}
}
