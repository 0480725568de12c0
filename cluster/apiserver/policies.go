package apiserver

import (
	"context"
	"io"
	"slices"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/apis/networking"
	"k8s.io/kubernetes/plugin/pkg/admission/noderestriction"
)

// policyWarning is the name of the admission plugin.
const policyWarning = "SlipwayNetworkPolicies"

// unenforced is the warning, which kubectl prints.
const unenforced = "this cluster does not enforce NetworkPolicies: its pods can always reach each other"

// policyWarner is the admission plugin that warns of a NetworkPolicy that is made or changed: it has no effect here. It
// refuses nothing.
type policyWarner struct{ *admission.Handler }

var _ admission.ValidationInterface = policyWarner{}

// addPolicyWarner adds the plugin to those that the server has by default.
func addPolicyWarner(s *options.ServerRunOptions) {
	generic := s.Admission.GenericAdmission
	generic.Plugins.Register(policyWarning, func(io.Reader) (admission.Interface, error) {
		return policyWarner{admission.NewHandler(admission.Create, admission.Update)}, nil
	})
	order := slices.Clone(generic.RecommendedPluginOrder) // which all servers share
	generic.RecommendedPluginOrder = slices.Insert(order, slices.Index(order, noderestriction.PluginName), policyWarning)
}

// ValidateInitialization has nothing to say.
func (policyWarner) ValidateInitialization() error { return nil }

// Validate warns.
func (policyWarner) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() == networking.Resource("networkpolicies") && a.GetSubresource() == "" {
		warning.AddWarning(ctx, "", unenforced)
	}
	return nil
}
