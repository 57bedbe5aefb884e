// Small linear algebra of a kernel: all loops are unrolled, so that matrices stay in registers.

/// The largest absolute value.
template <int n> static __device__ __forceinline__ double gough_largest(const double (&x)[n]) {
    double most = 0.0;
#pragma unroll
    for (int k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
    return most;
}

/// The inverse b of a, by Gauss-Jordan with the largest pivot of each column; whether it could be trusted. The matrix a is used up.
template <int n> static __device__ __forceinline__ bool gough_inverted(double (&a)[n][n], double (&b)[n][n]) {
    double most = 0.0, least = 1e300;
#pragma unroll
    for (int r = 0; r < n; r++)
#pragma unroll
        for (int c = 0; c < n; c++) b[r][c] = r == c ? 1.0 : 0.0;
#pragma unroll
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int r = k + 1; r < n; r++) {
            const bool swap = fabs(a[r][k]) > fabs(a[k][k]);
#pragma unroll
            for (int c = 0; c < n; c++) {
                const double above = a[k][c], below = a[r][c], up = b[k][c], down = b[r][c];
                a[k][c] = swap ? below : above;
                a[r][c] = swap ? above : below;
                b[k][c] = swap ? down : up;
                b[r][c] = swap ? up : down;
            }
        }
        const double pivot = a[k][k];
        most = fmax(most, fabs(pivot));
        least = fmin(least, fabs(pivot));
        const double by = 1.0 / pivot;
#pragma unroll
        for (int c = 0; c < n; c++) { a[k][c] *= by; b[k][c] *= by; }
#pragma unroll
        for (int r = 0; r < n; r++) {
            if (r == k) continue;
            const double f = a[r][k];
#pragma unroll
            for (int c = 0; c < n; c++) {
                a[r][c] = fma(-f, a[k][c], a[r][c]);
                b[r][c] = fma(-f, b[k][c], b[r][c]);
            }
        }
    }
    return least > 1e-6 * most;
}

/// The largest entry of the transpose of b times w.
template <int n> static __device__ __forceinline__ double gough_balance(const double (&b)[n][n], const double (&w)[n]) {
    double most = 0.0;
#pragma unroll
    for (int c = 0; c < n; c++) {
        double sum = 0.0;
#pragma unroll
        for (int r = 0; r < n; r++) sum = fma(b[r][c], w[r], sum);
        most = fmax(most, fabs(sum));
    }
    return most;
}

/// The longest column of b, rows weighed by w.
template <int n> static __device__ __forceinline__ double gough_load(const double (&b)[n][n], const double (&w)[n]) {
    double most = 0.0;
#pragma unroll
    for (int c = 0; c < n; c++) {
        double sum = 0.0;
#pragma unroll
        for (int r = 0; r < n; r++) sum = fma(b[r][c] * w[r], b[r][c], sum);
        most = fmax(most, sqrt(sum));
    }
    return most;
}

/// The determinant of a, by elimination with the largest pivot of each column; a is used up.
template <int n> static __device__ __forceinline__ double gough_determinant(double (&a)[n][n]) {
    double product = 1.0;
#pragma unroll
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int r = k + 1; r < n; r++) {
            const bool swap = fabs(a[r][k]) > fabs(a[k][k]);
#pragma unroll
            for (int c = 0; c < n; c++) {
                const double above = a[k][c], below = a[r][c];
                a[k][c] = swap ? below : above;
                a[r][c] = swap ? above : below;
            }
        }
        product *= a[k][k];
        const double by = 1.0 / a[k][k];
#pragma unroll
        for (int r = k + 1; r < n; r++) {
            const double f = a[r][k] * by;
#pragma unroll
            for (int c = 0; c < n; c++) a[r][c] = fma(-f, a[k][c], a[r][c]);
        }
    }
    return product;
}

/// The lowest and the highest singular value of a, by rotations of its columns until they are at right angles; a is used up.
template <int n> static __device__ __forceinline__ void gough_singular(double (&a)[n][n], double &low, double &high) {
    for (int sweep = 0; sweep < 40; sweep++) {
        bool rotated = false;
#pragma unroll
        for (int p = 0; p < n; p++) {
#pragma unroll
            for (int q = p + 1; q < n; q++) {
                double pp = 0.0, qq = 0.0, pq = 0.0;
#pragma unroll
                for (int r = 0; r < n; r++) {
                    pp = fma(a[r][p], a[r][p], pp);
                    qq = fma(a[r][q], a[r][q], qq);
                    pq = fma(a[r][p], a[r][q], pq);
                }
                if (pq * pq > 1e-30 * pp * qq) {
                    rotated = true;
                    const double z = (qq - pp) / (2.0 * pq);
                    const double t = copysign(1.0, z) / (fabs(z) + sqrt(fma(z, z, 1.0)));
                    const double c = rsqrt(fma(t, t, 1.0)), s = c * t;
#pragma unroll
                    for (int r = 0; r < n; r++) {
                        const double x = a[r][p], y = a[r][q];
                        a[r][p] = c * x - s * y;
                        a[r][q] = s * x + c * y;
                    }
                }
            }
        }
        if (!rotated) break;
    }
    double least = 1e300, most = 0.0;
#pragma unroll
    for (int c = 0; c < n; c++) {
        double sum = 0.0;
#pragma unroll
        for (int r = 0; r < n; r++) sum = fma(a[r][c], a[r][c], sum);
        least = fmin(least, sum);
        most = fmax(most, sum);
    }
    low = sqrt(least);
    high = sqrt(most);
}
