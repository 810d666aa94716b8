/// SSIM (Wang, Bovik, Sheikh, Simoncelli 2004) of two gray pictures, over windows of 8 × 8, from 0 to 1.
func structuralSimilarity(_ left: [Double], _ right: [Double], width: Int, height: Int) -> Double {
    let (c1, c2) = (6.5025, 58.5225)
    var (sum, count) = (0.0, 0)
    for top in 0...(height - 8) {
        for start in 0...(width - 8) {
            var (a, b, aa, bb, ab) = (0.0, 0.0, 0.0, 0.0, 0.0)
            for y in top..<top + 8 {
                for index in y * width + start..<y * width + start + 8 {
                    let (l, r) = (left[index], right[index])
                    a += l
                    b += r
                    aa += l * l
                    bb += r * r
                    ab += l * r
                }
            }
            let (ma, mb) = (a / 64, b / 64)
            let (va, vb, covariance) = (aa / 64 - ma * ma, bb / 64 - mb * mb, ab / 64 - ma * mb)
            sum += (2 * ma * mb + c1) * (2 * covariance + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2))
            count += 1
        }
    }
    return sum / Double(count)
}
