package protocol

// OpenDoor are the parameters of the openDoor request.
type OpenDoor struct {
	Logical   string   `json:"logical,omitempty"` // empty: the main cluster
	User      string   `json:"user"`
	Groups    []string `json:"groups"`
	Namespace string   `json:"namespace,omitempty"` // in which clients of the kubeconfig work
	Inspect   *Inspect `json:"inspect,omitempty"`   // absent: the door does not look into requests
}

// DoorOpened is the result of the openDoor request.
type DoorOpened struct {
	Name       string `json:"name"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
}

// CloseDoor are the parameters of the closeDoor request.
type CloseDoor struct {
	Name string `json:"name"`
}

// DoorRequest reports a request that came through a door, to the client that opened it.
type DoorRequest struct {
	Door            string  `json:"door"`
	User            string  `json:"user"`
	Verb            string  `json:"verb"`
	Group           string  `json:"group,omitempty"`
	Version         string  `json:"version,omitempty"`
	Resource        string  `json:"resource,omitempty"`
	Subresource     string  `json:"subresource,omitempty"`
	Namespace       string  `json:"namespace,omitempty"`
	Name            string  `json:"name,omitempty"`
	Path            string  `json:"path,omitempty"` // of what is no resource
	Status          int     `json:"status"`         // 0: the connection ended without an answer
	LatencyMs       float64 `json:"latencyMs"`
	ResourceVersion string  `json:"resourceVersion,omitempty"`
	Missed          int     `json:"missed,omitempty"` // reports before this one that are not sent

	*Inspected // of an inspected door
}

func (DoorRequest) event() string { return "request" }
