package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// Projects whose webhooks another tool deploys have patches of CRDs in config/crd, and the authority's
// name put into them by replacements of config/default.

// planForeignConversion patches the definitions of converted kinds.
func (p *featurePlan) planForeignConversion() error {
	hubs := p.converted()
	if len(hubs) == 0 {
		return nil
	}
	const list = "config/crd/kustomization.yaml"
	for _, r := range hubs {
		name := "patches/webhook_in_" + r.PluralName() + ".yaml"
		if p.project.MultiGroup && r.Group != "" {
			name = "patches/webhook_in_" + r.Group + "_" + r.PluralName() + ".yaml"
		}
		if err := p.requireFrom("webhook/conversion.yaml", "config/crd/"+name, map[string]any{"Resource": r}); err != nil {
			return err
		}
		if err := p.put(list, inserted(fragment{marker: "crdkustomizewebhookpatch", code: "- path: " + name + "\n", key: name, near: regexp.MustCompile(`^patches:`)})); err != nil {
			return err
		}
	}
	if err := p.requireFrom("features/webhook/names.yaml", "config/crd/kustomizeconfig.yaml", p.data()); err != nil {
		return err
	}
	return p.put(list, these(uncommentedList{"configurations", "kustomizeconfig.yaml"}))
}

// planForeignInjection has cert-manager's authority put into those definitions.
func (p *featurePlan) planForeignInjection() error {
	var of []fragment
	for _, r := range p.converted() {
		for index, marker := range []string{"crdkustomizecainjectionns", "crdkustomizecainjectionname"} {
			of = append(of, injectionTarget(r, marker, index))
		}
	}
	return p.edit(defaultConfig, func(file string, src []byte) ([]byte, error) {
		var err error
		for _, f := range of {
			if src, err = f.putOnce(file, src); err != nil {
				return nil, err
			}
		}
		return src, nil
	})
}

// injectionTarget is a target of the replacement that a marker stands below.
func injectionTarget(r project.Resource, marker string, index int) fragment {
	code := fmt.Sprintf(`     - select:
         kind: CustomResourceDefinition
         name: %s
       fieldPaths:
         - .metadata.annotations.[cert-manager.io/inject-ca-from]
       options:
         delimiter: '/'
         index: %d
         create: true
`, r.CRDName(), index)
	return fragment{marker: marker, code: code, key: r.CRDName()}
}

// putOnce inserts a fragment whose key other fragments of the file have as well: it is there when the
// lines above its marker are its own. A marker in a block that is switched off by comments is refused.
func (f fragment) putOnce(file string, src []byte) ([]byte, error) {
	if strings.Contains(string(src), f.code+"# +kubebuilder:scaffold:"+f.marker) {
		return src, nil
	}
	lines := strings.SplitAfter(string(src), "\n")
	at := slices.IndexFunc(lines, func(line string) bool {
		m := markerLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		return m != nil && m[1] == f.marker
	})
	if at < 0 {
		return nil, f.refuse(file, lines)
	}
	above := at - 1
	if above < 0 || strings.HasPrefix(strings.TrimSpace(lines[above]), "#") {
		return nil, &report.Error{
			What: "the block that this belongs into is a comment", Where: fmt.Sprintf("%s:%d", file, at+1),
			Hint: "nothing was changed; remove the # from its lines and run the command again; this is then inserted:\n" + strings.TrimSuffix(f.code, "\n"),
		}
	}
	return []byte(strings.Join(slices.Insert(lines, at, f.code), "")), nil
}

// An uncommentedList is a list of one item that is there in comments, or not at all.
type uncommentedList struct{ list, item string }

func (u uncommentedList) entry() listEntry { return listEntry{u.list, u.item} }

func (u uncommentedList) id() string { return u.entry().id() }

func (u uncommentedList) put(file string, src []byte) ([]byte, error) {
	commented := regexp.MustCompile(`(?m)^#\s?` + u.list + `:\n#\s?- ` + regexp.QuoteMeta(u.item) + `$`)
	if at := commented.FindIndex(src); at != nil {
		return slices.Concat(src[:at[0]], fmt.Appendf(nil, "%s:\n- %s", u.list, u.item), src[at[1]:]), nil
	}
	return u.entry().put(file, src)
}

func (u uncommentedList) take(src []byte) ([]byte, int) { return u.entry().take(src) }
