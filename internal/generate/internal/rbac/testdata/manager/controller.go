// Package manager asks for what a manager needs, in every way of saying it.
package manager

// +kubebuilder:rbac:groups=batch.example.com,resources=cronjobs,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=batch.example.com,resources=cronjobs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=batch.example.com,resources=cronjobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=watch;list;get
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=create;get
// +kubebuilder:rbac:groups=batch,resources=jobs/status,verbs=get

// Reconcile has markers in its doc comment, which count for nothing.
// +kubebuilder:rbac:groups=ignored,resources=ignored,verbs=get
func Reconcile() {}

// Groups: the one without a name is also called core.
//+kubebuilder:rbac:groups=core,resources=pods,verbs=get;list
//+kubebuilder:rbac:groups="",resources=services,verbs=list;get
//+kubebuilder:rbac:groups=core;"",resources=events,verbs=create;patch
//+kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=patch;create

// Several resources and groups in one marker, and the same again.
// +kubebuilder:rbac:groups=apps;apps;extensions,resources=deployments;replicasets,verbs=get
// +kubebuilder:rbac:groups=extensions;apps,resources=deployments,verbs=watch;watch
// +kubebuilder:rbac:groups=one,resources=a;b,verbs=get;list
// +kubebuilder:rbac:groups=two,resources=b,verbs=get;list
// +kubebuilder:rbac:groups=two,resources=a,verbs=list;get
// +kubebuilder:rbac:groups=three,resources=a,verbs=get

// Every verb makes the others needless.
// +kubebuilder:rbac:groups=all,resources=things,verbs=get;list
// +kubebuilder:rbac:groups=all,resources=things,verbs=*
// +kubebuilder:rbac:groups=*,resources=*,verbs=get

// Names and URLs.
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=second;first;second,verbs=get
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=first;second,verbs=get
// +kubebuilder:rbac:urls=/metrics,verbs=get
// +kubebuilder:rbac:urls=/healthz;/readyz,verbs=get
// +kubebuilder:rbac:urls=/debug/*,verbs=get;post

type manager struct {
	// A marker among fields is nothing.
	// +kubebuilder:rbac:groups=ignored,resources=fields,verbs=get
	name string
}

// +kubebuilder:rbac:groups=leases.example.com,resources=leases,verbs="get",namespace=""

var _ = manager{}.name
