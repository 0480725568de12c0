// +kubebuilder:webhookconfiguration:mutating=true,name=defaults
// +kubebuilder:webhookconfiguration:mutating=false,name=checks
// +kubebuilder:webhook:path=/mutate-x,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create;update,versions=v1,name=mx.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-x,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create;update,versions=v1,name=vx.example.com,admissionReviewVersions=v1

// Package named says how its configurations are called.
package named
