package manager

// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=delete
// +kubebuilder:rbac:groups=y,resources=on,verbs=get
// +kubebuilder:rbac:groups="123",resources="true",verbs=get
