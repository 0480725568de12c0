package crdcheck

import "strings"

// Advice says what to change in the code about a finding; "" where its message says so itself.
func (f Finding) Advice() string {
	for _, a := range advices {
		if a.fits(f) {
			return a.text
		}
	}
	return ""
}

// advice is for findings with a reason, or with any if it has none, whose path ends in key; if key ends in a dot, the
// path may go on after it.
type advice struct {
	key    string
	reason Reason
	text   string
}

func (a advice) fits(f Finding) bool {
	if a.reason != "" && f.Reason != a.reason {
		return false
	}
	inside, between := strings.CutSuffix(a.key, ".")
	if between {
		return strings.Contains(f.Path+".", "."+inside+".") || strings.Contains(f.Path, "."+inside+"[")
	}
	return a.key == "" || f.Path == a.key || strings.HasSuffix(f.Path, "."+a.key)
}

// What to do about rules that cost too much.
const (
	bounds     = "limit the size of the values: +kubebuilder:validation:MaxItems at lists, MaxLength at strings, MaxProperties at maps that "
	ruleBounds = bounds + "the rule reads"
	sumBounds  = bounds + "rules read"
)

// advices are tried in this order.
var advices = []advice{
	{"uniqueItems", "", "replace +kubebuilder:validation:UniqueItems by +listType=set: the API server keeps such a list free of duplicates"},
	{"", AbsentKey, "make the key required: no omitempty and no +optional; or give it a +kubebuilder:default"},
	{"nullable", "", "remove +nullable"},
	{"default.", "", "use a default with values and fields that the field allows"},
	{"", RuleCost, ruleBounds},
	{"", RuleCostShare, ruleBounds},
	{"", RuleCostSum, sumBounds},
	{"", UndefinedField, "rules see fields by the names of their json tags; names that are no identifiers are escaped, like x__dash__y"},
	{"", NoOldValue, "values in atomic lists and sets have no old value: use +listType=map with +listMapKey, or move the rule up"},
	{"x-kubernetes-list-map-keys", "", "each +listMapKey names a field of the list's items by its json tag"},
	{"", StructuredSet, "use +listType=map with +listMapKey, or +listType=atomic"},
	{"x-kubernetes-list-type", "", "+listType=atomic, +listType=set for scalars, or +listType=map with +listMapKey"},
	{"x-kubernetes-map-type", "", "+mapType=atomic or +structType=atomic"},
	{"format", "", "use a format that the API server knows, or +kubebuilder:validation:Pattern"},
	{"pattern", "", "a regular expression in Go's syntax"},
	{"selectableFields.", "", "name a field by the json tags on the way to it, like .spec.nodeName; it must be a string, a boolean or an integer"},
	{"additionalPrinterColumns.", NoSuchField, "name a field by the json tags on the way to it, like .status.phase"},
	{"", NoPath, "a path like .status.phase or .status.conditions[?(@.type==\"Ready\")].status"},
	{"scale.", "", "name a field by the json tags on the way to it: specpath below .spec, statuspath below .status"},
	{"", ProtectedGroup, "take a group of your own, or add the approval: +kubebuilder:metadata:annotations=\"api-approved.kubernetes.io=https://github.com/kubernetes/…\""},
	{"spec.group", "", "name the API group in the package's doc: // +groupName=apps.example.com"},
	{"names.", "", "names consist of lower-case letters, digits and dashes"},
	{"", TooLargeToApply, "use kubectl apply --server-side, or leave the descriptions out with crd:maxDescLen=0"},
	{"", TooLargeToStore, "leave the descriptions out with crd:maxDescLen=0, or embed less: a reference instead of a whole pod template"},
}

// Advice says how to make the change without breaking what was right before; "" where there is no general way.
func (c Change) Advice() string {
	switch c.Rule {
	case "definitionRemoval":
		return "keep the kind while clusters have objects of it, and mark it +kubebuilder:deprecatedversion"
	case "versionRemoval", "versionServed":
		return "first mark the version +kubebuilder:deprecatedversion; remove it when no object is stored in it: slipway migrate " + c.Definition
	case "existingFieldRemoval":
		return "keep the field with a comment that it is unused, or serve a new version without it"
	case "required":
		return "make it +optional, with a +kubebuilder:default if there is one"
	case "x-kubernetes-validations":
		return "use a rule with oldSelf and optionalOldSelf=true to accept stored objects"
	}
	return ""
}
