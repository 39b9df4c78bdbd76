# Sourced by test.sh and lint.sh: brings a virtual environment with the pinned tools and the wheel.
cd "$(dirname "$0")"
if [ ! -x .venv/bin/python ]; then
    python3 -m venv .venv
fi
PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_DISABLE_PIP_VERSION_CHECK
.venv/bin/pip install --quiet --requirement tests/requirements.txt
rm -rf .venv/wheel
.venv/bin/maturin build --quiet --release --locked --interpreter .venv/bin/python --out .venv/wheel
.venv/bin/pip install --quiet --force-reinstall --no-deps .venv/wheel/*.whl
