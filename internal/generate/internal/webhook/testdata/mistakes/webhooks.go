// Package mistakes has a webhook with each mistake.
package mistakes

// +kubebuilder:webhook:mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create,versions=v1,name=a.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,url="https://x",mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create,versions=v1,name=b.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,groups=apps,resources=xs,verbs=create,versions=v1,name=c.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,sideEffects=Some,groups=apps,resources=xs,verbs=create,versions=v1,name=d.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create,versions=v1,name=e.example.com,admissionReviewVersions={}
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create,versions=v1,name=f.example.com,admissionReviewVersions=v1,timeoutSeconds=31
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create,versions=v1,name=g.example.com,admissionReviewVersions=v1,matchPolicy=exakt
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create,versions=v1,name=h.example.com,admissionReviewVersions=v1,webhookVersions=v1beta1
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create,versions=v1,name=i.example.com,admissionReviewVersions=v1,patch=`{"timeout":1}`
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verb=create,versions=v1,name=j.example.com,admissionReviewVersions=v1

// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=never,sideEffects=None,groups=apps,resources=xs,verbs=patch,versions=v1,name=short,admissionReviewVersions=v1,reinvocationPolicy=always
// +kubebuilder:webhook:url="https://x",serviceName=s,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create,versions=v1,name=same.example.com,admissionReviewVersions=v1,reinvocationPolicy=Never
// +kubebuilder:webhook:path=/x,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create,versions=v1,name=same.example.com,admissionReviewVersions=v1
// +kubebuilder:webhookconfiguration:mutating=false,name=one
// +kubebuilder:webhookconfiguration:mutating=false,name=two
