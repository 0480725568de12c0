class Slipway < Formula
  desc "Builds, runs and ships Kubernetes operators"
  homepage "https://github.com/slipway-dev/slipway"
  version "0.1.0"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/slipway-dev/slipway/releases/download/v0.1.0/slipway_v0.1.0_darwin_arm64.tar.gz"
      sha256 "1789d995aaa942d16fc6584ba26d6c538f87b3b504a2162034e0a8786deaf3c3"
    end
    on_intel do
      url "https://github.com/slipway-dev/slipway/releases/download/v0.1.0/slipway_v0.1.0_darwin_amd64.tar.gz"
      sha256 "79b81007120e1a0f6c1487c6a8f7a7995e3b13bb0f30efdb9ca189c58712c115"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/slipway-dev/slipway/releases/download/v0.1.0/slipway_v0.1.0_linux_arm64.tar.gz"
      sha256 "316cf75b1d4d97a6ac06dca1ad951fcfa4bb0f387c727a6ac5ad7a53941b0fe7"
    end
    on_intel do
      url "https://github.com/slipway-dev/slipway/releases/download/v0.1.0/slipway_v0.1.0_linux_amd64.tar.gz"
      sha256 "189d9ec0e87753fa5fd509ac599569c81619e0c501d0f1d296345adca7697a29"
    end
  end

  def install
    libexec.install Dir["slipway*"]
    bin.install_symlink libexec/"slipway"
    generate_completions_from_executable(bin/"slipway", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/slipway version")
  end
end
