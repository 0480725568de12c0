package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/spelling"
)

// editFeatures switches parts of what is deployed on and off.
func (inv *invocation) editFeatures(flags *pflag.FlagSet) func() ([]scaffold.Edit, error) {
	var enable, disable []string
	var certs string
	flags.StringSliceVar(&enable, "enable", nil, "`features` to add: "+featureNames())
	flags.StringSliceVar(&disable, "disable", nil, "`features` to leave out; files of theirs that you may have changed stay")
	flags.StringVar(&certs, "certs", "", "certificate `provider` of webhooks and metrics: self for the operator, or cert-manager")
	return func() ([]scaffold.Edit, error) {
		on, err := parseFeatures("--enable", enable)
		if err != nil {
			return nil, err
		}
		off, err := parseFeatures("--disable", disable)
		if err != nil {
			return nil, err
		}
		for _, f := range on {
			for _, g := range off {
				if f == g {
					return nil, &report.Error{What: fmt.Sprintf("%s is to be switched on and off", f), Where: "--enable, --disable", Hint: "one of them", Code: usageCode}
				}
			}
		}
		keeper, err := parseCertificates(certs)
		if err != nil {
			return nil, err
		}
		if keeper != "" {
			on = append(on, keeper)
		}
		var edits []scaffold.Edit
		if at := slices.Index(on, scaffold.Namespaced); at >= 0 { // PROJECT tells of it, and the manager must know
			on = slices.Delete(on, at, at+1)
			edits = append(edits, scaffold.InNamespace(true))
		}
		if at := slices.Index(off, scaffold.Namespaced); at >= 0 {
			off = slices.Delete(off, at, at+1)
			edits = append(edits, scaffold.InNamespace(false))
		}
		if len(off) > 0 {
			edits = append(edits, scaffold.Disable(off...))
		}
		if len(on) > 0 {
			edits = append(edits, scaffold.Enable(on...))
		}
		return edits, nil
	}
}

func featureNames() string {
	var names []string
	for _, f := range scaffold.Features() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// parseFeatures reads the names that a flag has.
func parseFeatures(flag string, names []string) ([]scaffold.Feature, error) {
	var features []scaffold.Feature
	for _, name := range names {
		f, ok := scaffold.ParseFeature(strings.TrimSpace(name))
		if !ok {
			return nil, &report.Error{What: fmt.Sprintf("unknown feature %q", name), Where: flag, Hint: "there are " + featureNames() + nearest(name), Code: usageCode}
		}
		features = append(features, f)
	}
	return features, nil
}

// nearest asks whether a feature of a similar name is meant.
func nearest(name string) string {
	for _, f := range scaffold.Features() {
		if spelling.Distance(name, string(f), 3) <= 2 {
			return "; did you mean " + string(f) + "?"
		}
	}
	return ""
}

// parseCertificates reads the certificate provider; an empty name leaves the choice to the project.
func parseCertificates(name string) (scaffold.Feature, error) {
	switch name {
	case "":
		return "", nil
	case "cert-manager", "certmanager":
		return scaffold.CertManager, nil
	case "self", "selfcert":
		return scaffold.SelfCert, nil
	}
	return "", &report.Error{What: fmt.Sprintf("unknown certificate provider %q", name), Where: "--certs", Hint: "use self or cert-manager", Code: usageCode}
}
