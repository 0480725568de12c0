// Package policy makes a ValidatingAdmissionPolicy of the CEL rules that markers give to kinds and their fields.
//
//	// +kubebuilder:validation:XValidation:rule="self >= oldSelf",message="may only grow"
//	Size int32 `json:"size"`
//
// becomes a validation of a policy, which knows the whole object and not the field:
//
//	oldObject == null || … || !has(object.spec) || !has(object.spec.size) || [object.spec.size].all(self, self >= oldSelf)
//
// The API server judges a rule in a definition with the types of the schema, and a policy without them. [refusal] says
// which rules would be judged differently: they are left out, and a finding at their marker says why. So is what a
// definition does besides: a rule is judged where its value is there and not null, and, unless it compares with the old
// value, only where the value has changed (https://kubernetes.io/docs/reference/using-api/cel/ and
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting).
package policy
