package protocol

// AddLogical are the parameters of the addLogical request.
type AddLogical struct {
	Name            string   `json:"name"`
	Nodes           []Node   `json:"nodes,omitzero"`            // as in a [Spec]
	Controllers     *bool    `json:"controllers,omitempty"`     // as in a [Spec]
	ControllerNames []string `json:"controllerNames,omitempty"` // as in a [Spec]
	SimulatedPods   string   `json:"simulatedPods,omitempty"`   // as in a [Spec]
	SimulatedJobs   string   `json:"simulatedJobs,omitempty"`
	APIServerFlags  []string `json:"apiServerFlags,omitempty"`
	Tied            bool     `json:"tied,omitempty"` // it ends with the connection that asked for it
}

// RunControllers says whether controllers, scheduler and nodes run.
func (l AddLogical) RunControllers() bool { return l.Controllers == nil || *l.Controllers }

// ServerFlags are the API server's flags: those that hold for the whole process, and its own.
func (l AddLogical) ServerFlags(main Spec) []string {
	gates := Spec{FeatureGates: main.FeatureGates, RuntimeConfig: main.RuntimeConfig}
	return append(gates.ServerFlags(), l.APIServerFlags...)
}

// LogicalCluster is a logical cluster beside the main one.
type LogicalCluster struct {
	Name       string `json:"name"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
}

// LogicalAdded is the result of the addLogical request.
type LogicalAdded struct {
	LogicalCluster
	ElapsedMs int64 `json:"elapsedMs"`
}

// RemoveLogical are the parameters of the removeLogical request.
type RemoveLogical struct {
	Name string `json:"name"`
}
