package cri

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/imagestore"
)

// Images implements the CRI's image service.
type Images struct {
	store *imagestore.Store
	dir   string
}

var _ internalapi.ImageManagerService = (*Images)(nil)

// NewImages serves the images of a store whose folder is dir.
func NewImages(store *imagestore.Store, dir string) *Images { return &Images{store, dir} }

// ListImages returns all images, or the one that the filter names.
func (s *Images) ListImages(_ context.Context, f *runtimeapi.ImageFilter) ([]*runtimeapi.Image, error) {
	var list []*runtimeapi.Image
	if ref := f.GetImage().GetImage(); ref != "" {
		if img, err := s.store.Get(ref); err == nil {
			list = append(list, describeImage(img))
		}
		return list, nil
	}
	for _, img := range s.store.List() {
		list = append(list, describeImage(img))
	}
	return list, nil
}

func describeImage(img imagestore.Image) *runtimeapi.Image {
	described := &runtimeapi.Image{
		Id: img.ID, RepoTags: img.Tags, RepoDigests: img.Digests, Size: uint64(img.Size), Spec: &runtimeapi.ImageSpec{Image: img.ID},
	}
	user, _, _ := strings.Cut(img.Config.User, ":")
	if uid, err := strconv.ParseInt(user, 10, 64); err == nil {
		described.Uid = &runtimeapi.Int64Value{Value: uid}
	} else {
		described.Username = user
	}
	return described
}

// ImageStatus describes the image that a pod started now runs, or no image if there is none. If the cluster's registry
// has another image of that name, ImageStatus pulls it first. Before a start the kubelet calls only ImageStatus, unless
// the pull policy is Always.
func (s *Images) ImageStatus(ctx context.Context, spec *runtimeapi.ImageSpec, _ bool) (*runtimeapi.ImageStatusResponse, error) {
	img, err := s.store.Current(ctx, spec.GetImage())
	if errors.Is(err, imagestore.ErrUnknown) {
		return &runtimeapi.ImageStatusResponse{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ImageStatusResponse{Image: describeImage(img)}, nil
}

// PullImage pulls an image and returns its ID.
func (s *Images) PullImage(ctx context.Context, spec *runtimeapi.ImageSpec, auth *runtimeapi.AuthConfig, _ *runtimeapi.PodSandboxConfig) (string, error) {
	var credentials *imagestore.Credentials
	if auth != nil {
		credentials = &imagestore.Credentials{
			User: auth.GetUsername(), Password: auth.GetPassword(), Auth: auth.GetAuth(),
			IdentityToken: auth.GetIdentityToken(), RegistryToken: auth.GetRegistryToken(),
		}
	}
	img, err := s.store.Pull(ctx, spec.GetImage(), credentials)
	return img.ID, err
}

// RemoveImage removes an image.
func (s *Images) RemoveImage(_ context.Context, spec *runtimeapi.ImageSpec) error {
	return s.store.Remove(spec.GetImage())
}

// ImageFsInfo measures the images and their file system.
func (s *Images) ImageFsInfo(context.Context) (*runtimeapi.ImageFsInfoResponse, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(s.dir, &stat); err != nil {
		return nil, err
	}
	used, _ := s.store.Used()
	usage := &runtimeapi.FilesystemUsage{
		Timestamp: time.Now().UnixNano(), FsId: &runtimeapi.FilesystemIdentifier{Mountpoint: s.dir},
		UsedBytes: &runtimeapi.UInt64Value{Value: used}, InodesUsed: &runtimeapi.UInt64Value{Value: stat.Files - stat.Ffree},
	}
	return &runtimeapi.ImageFsInfoResponse{ImageFilesystems: []*runtimeapi.FilesystemUsage{usage}, ContainerFilesystems: []*runtimeapi.FilesystemUsage{usage}}, nil
}

// Close does nothing.
func (s *Images) Close(context.Context) error { return nil }
