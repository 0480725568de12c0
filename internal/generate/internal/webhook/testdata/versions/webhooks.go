// Package versions has webhooks for several versions of resources.
package versions

// Reported: the second of each sort.
// +kubebuilder:webhook:path=/v-job-v1,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=jobs,verbs=create;update,versions=v1,name=v.job-v1.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/v-job-v1alpha1,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=jobs,verbs=create;update,versions=v1alpha1,name=v.job-v1alpha1.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/m-job-v1,mutating=true,failurePolicy=fail,sideEffects=None,groups=batch,resources=jobs,verbs=create;update,versions=v1,name=m.job-v1.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/m-job-v1alpha1,mutating=true,failurePolicy=fail,sideEffects=None,groups=batch,resources=jobs,verbs=create;update,versions=v1alpha1,name=m.job-v1alpha1.example.com,admissionReviewVersions=v1,matchPolicy=Equivalent

// One of them is called for requests by its own version alone, the other one for all.
// +kubebuilder:webhook:path=/v-task-v1,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=tasks,verbs=create;update,versions=v1,name=v.task-v1.example.com,admissionReviewVersions=v1,matchPolicy=Exact
// +kubebuilder:webhook:path=/v-task-v2,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=tasks,verbs=*,versions=v2,name=v.task-v2.example.com,admissionReviewVersions=v1

// Not reported: requests by their own versions alone.
// +kubebuilder:webhook:path=/v-exact-v1,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=exacts,verbs=create;update,versions=v1,name=v.exact-v1.example.com,admissionReviewVersions=v1,matchPolicy=Exact
// +kubebuilder:webhook:path=/v-exact-v2,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=exacts,verbs=create;update,versions=v2,name=v.exact-v2.example.com,admissionReviewVersions=v1,matchPolicy=Exact

// Nor one for both versions, other groups and resources, other operations, and objects that are selected.
// +kubebuilder:webhook:path=/v-all,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=alls,verbs=create;update,versions=v1;v2,name=v.all.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/v-other-group,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=jobs,verbs=create;update,versions=v2,name=v.other-group.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/v-status,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=jobs/status,verbs=create;update,versions=v2,name=v.status.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/v-part-v1,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=parts,verbs=create,versions=v1,name=v.part-v1.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/v-part-v2,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=parts,verbs=delete,versions=v2,name=v.part-v2.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/v-pick-v1,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=picks,verbs=create;update,versions=v1,name=v.pick-v1.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/v-pick-v2,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=picks,verbs=create;update,versions=v2,name=v.pick-v2.example.com,admissionReviewVersions=v1,patch=`{"objectSelector":{"matchLabels":{"a":"b"}}}`
