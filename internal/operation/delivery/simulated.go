package delivery

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/loaded"
	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// reportSimulated notes which deployed workloads have only simulated pods, and how to run them for real.
func reportSimulated(ctx context.Context, s *operation.Session, cluster *ship.Cluster, objects []*unstructured.Unstructured) {
	simulated := cluster.Simulated(ctx, objects)
	if len(simulated) == 0 {
		return
	}
	embedded := clusters.Embedded(ctx, s, cluster)
	for _, one := range simulated {
		one.Images = absent(ctx, embedded, one.Images)
		s.Handler.Handle(report.Note{Text: "the pods of " + one.Workload + " are simulated, so no container runs" + runAsContainersAdvice(embedded, one) + getImageAdvice(s, embedded, one.Images)})
	}
}

// absent returns the images that the cluster's registry does not have, or cannot be asked about.
func absent(ctx context.Context, cluster *clusterctl.Status, images []string) []string {
	if cluster == nil {
		return images
	}
	return slices.DeleteFunc(slices.Clone(images), func(image string) bool {
		there, err := loaded.Has(ctx, cluster.Registry, image)
		return err == nil && there
	})
}

// requireLoaded refuses a deployment to an embedded cluster in which simulated pods would replace running containers:
// its nodes simulate pods whose images are not loaded. If all nodes are real, such pods wait and the containers
// continue.
func requireLoaded(ctx context.Context, s *operation.Session, cluster *ship.Cluster, objects []*unstructured.Unstructured) error {
	embedded := clusters.Embedded(ctx, s, cluster)
	if embedded == nil {
		return nil
	}
	unloaded, err := cluster.Unloaded(ctx, objects, func(ctx context.Context, image string) (bool, error) {
		there, err := loaded.Has(ctx, embedded.Registry, image)
		if err != nil {
			return false, uncheckedImage(image, embedded.Name, err)
		}
		return there, nil
	})
	if err != nil || len(unloaded) == 0 {
		return err
	}
	return unloadedError(s, embedded, unloaded[0])
}

// uncheckedImage returns the error if the registry of a cluster cannot be asked about an image.
func uncheckedImage(image, cluster string, err error) error {
	return &report.Error{What: "cannot check whether image " + image + " is current", Where: "cluster " + cluster, Err: err, Next: "slipway cluster status " + cluster}
}

// unloadedError refuses a deployment whose image is not loaded, with the commands that load it.
func unloadedError(s *operation.Session, cluster *clusterctl.Status, missing ship.Simulation) error {
	image := missing.Images[0]
	load := "slipway image load " + image + toCluster(cluster)
	e := &report.Error{
		What: "image " + image + " is not in the cluster: simulated pods would replace the running containers", Where: missing.Workload,
		Hint: "nothing was changed, and the containers go on; this machine has the image: load it", Next: load,
	}
	if ref, err := reference.Parse(image); err != nil || !slices.Contains(images.Names(s), ref.Name()) {
		e.Hint = "nothing was changed, and the containers go on; this machine has no such image: correct the name, pull the image, or build it"
		e.Next = "slipway image build -t " + image + " && " + load
	}
	return e
}

// toCluster returns the flag --cluster for commands, or "" for the default cluster.
func toCluster(s *clusterctl.Status) string {
	if s.Name == clusterctl.DefaultName {
		return ""
	}
	return " --cluster " + s.Name
}

// runAsContainersAdvice returns how the simulated pods of an embedded cluster become real, for the end of a note. S is
// nil for another cluster.
func runAsContainersAdvice(s *clusterctl.Status, of ship.Simulation) string {
	switch {
	case s == nil:
		return ""
	case !s.Nodes.Joins && s.Nodes.Real == 0:
		return "; the cluster was started with simulated nodes: stop it, then `slipway cluster start " + s.Name + " --nodes real`"
	case s.Nodes.Real == 0 && s.Nodes.Problem != "":
		return ": " + s.Nodes.Problem
	}
	restart := rollout(of.Workload)
	if len(of.Images) == 0 {
		return "; their images are in the cluster, and new pods run as containers unless real nodes refuse them: " + restart + " makes new ones"
	}
	var steps []string
	for _, image := range of.Images {
		steps = append(steps, "`slipway image load "+image+toCluster(s)+"`")
	}
	return ": run " + strings.Join(append(steps, restart), ", then ")
}

// rollout returns the command that restarts a workload, which has the form kind/namespace/name.
func rollout(workload string) string {
	parts := strings.Split(workload, "/")
	if len(parts) != 3 || !slices.Contains([]string{"deployment", "statefulset", "daemonset"}, parts[0]) {
		return "a new rollout"
	}
	return "`slipway kubectl -n " + parts[1] + " rollout restart " + parts[0] + " " + parts[2] + "`"
}

// getImageAdvice returns how to get the first image that load would not find on this machine.
func getImageAdvice(s *operation.Session, cluster *clusterctl.Status, wanted []string) string {
	if cluster == nil || !cluster.Nodes.Joins && cluster.Nodes.Real == 0 {
		return ""
	}
	kept := images.Names(s)
	for _, image := range wanted {
		if ref, err := reference.Parse(image); err == nil && !slices.Contains(kept, ref.Name()) {
			return "; first build the image with `slipway image build -t " + image + "` or pull it with `slipway image pull " + image + "`"
		}
	}
	return ""
}
