// Rounding of intermediate results. Expected values were computed with 40 digits.
func.func @main() {
  // 16-bit floats are multiplied and added in f32, and rounded once.
  %1 = stablehlo.constant dense<[[0.441162109375, -0.330810546875, 2.431640625], [-0.252197265625, 0.109619140625, 1.58203125]]> : tensor<2x3xf16>
  %2 = stablehlo.custom_call @test.identity(%1) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %3 = stablehlo.constant dense<[[-0.9091796875, -0.591796875, 0.1876220703125, -0.329833984375], [-1.1923828125, -0.204833984375, -0.35888671875, 0.603515625], [-1.6650390625, -0.7001953125, 1.1513671875, 1.857421875]]> : tensor<3x4xf16>
  %4 = stablehlo.custom_call @test.identity(%3) : (tensor<3x4xf16>) -> tensor<3x4xf16>
  %5 = stablehlo.dot_general %2, %4, contracting_dims = [1] x [0] : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  %6 = stablehlo.constant dense<[[-4.0546875, -1.8955078125, 3.001953125, 4.171875], [-2.53515625, -0.98095703125, 1.734375, 3.087890625]]> : tensor<2x4xf16>
  stablehlo.custom_call @check.expect_eq(%5, %6) {has_side_effect = true} : (tensor<2x4xf16>, tensor<2x4xf16>) -> ()
  %7 = stablehlo.constant dense<[[-1.5078125, 0.64453125, -0.98046875], [-0.85546875, -0.87109375, -0.421875]]> : tensor<2x3xbf16>
  %8 = stablehlo.custom_call @test.identity(%7) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %9 = stablehlo.constant dense<[[0.99609375, 0.7109375, 0.05908203125, -0.36328125], [0.0032958984375, -0.10595703125, 0.79296875, -0.6328125], [-0.006195068359375, -0.10107421875, -0.05224609375, 0.2490234375]]> : tensor<3x4xbf16>
  %10 = stablehlo.custom_call @test.identity(%9) : (tensor<3x4xbf16>) -> tensor<3x4xbf16>
  %11 = stablehlo.dot_general %8, %10, contracting_dims = [1] x [0] : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xbf16>
  %12 = stablehlo.constant dense<[[-1.4921875, -1.0390625, 0.47265625, -0.1044921875], [-0.8515625, -0.47265625, -0.71875, 0.7578125]]> : tensor<2x4xbf16>
  stablehlo.custom_call @check.expect_eq(%11, %12) {has_side_effect = true} : (tensor<2x4xbf16>, tensor<2x4xbf16>) -> ()
  // Windows are reduced in row-major order after the initial value, and every sum is rounded.
  %13 = stablehlo.constant dense<[[0.5927734375, 4.00390625, -0.2607421875, 4.68359375], [-0.91748046875, -1.43359375, 0.30224609375, 1.06640625], [0.80859375, 3.875, 3.41796875, 1.4833984375]]> : tensor<3x4xf16>
  %14 = stablehlo.custom_call @test.identity(%13) : (tensor<3x4xf16>) -> tensor<3x4xf16>
  %15 = stablehlo.constant dense<0.0> : tensor<f16>
  %16 = "stablehlo.reduce_window"(%14, %15) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %s : tensor<f16>
  }) : (tensor<3x4xf16>, tensor<f16>) -> tensor<2x3xf16>
  %17 = stablehlo.constant dense<[[2.24609375, 2.611328125, 5.7890625], [2.33203125, 6.1640625, 6.2734375]]> : tensor<2x3xf16>
  stablehlo.custom_call @check.expect_eq(%16, %17) {has_side_effect = true} : (tensor<2x3xf16>, tensor<2x3xf16>) -> ()
  %18 = stablehlo.constant dense<[[-1.0078125, -0.302734375, 4.25, 0.6640625], [-3.9375, -2.0625, -1.734375, 3.453125], [-0.322265625, 6.78125, 1.96875, 0.375]]> : tensor<3x4xbf16>
  %19 = stablehlo.custom_call @test.identity(%18) : (tensor<3x4xbf16>) -> tensor<3x4xbf16>
  %20 = stablehlo.constant dense<1.0> : tensor<bf16>
  %21 = "stablehlo.reduce_window"(%19, %20) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<3x4xbf16>, tensor<bf16>) -> tensor<2x3xbf16>
  %22 = stablehlo.constant dense<[[-6.3125, 1.140625, 7.625], [1.46875, 5.9375, 5.0625]]> : tensor<2x3xbf16>
  stablehlo.custom_call @check.expect_eq(%21, %22) {has_side_effect = true} : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> ()
  %23 = stablehlo.constant dense<[[-1.3071117401123047, 2.9165380001068115, -0.7221333980560303, -2.4723703861236572], [1.7043981552124023, 0.03827495127916336, 3.5671820640563965, -0.22077995538711548], [-8.57906436920166, 2.3680992126464844, -5.633222579956055, 4.616268634796143]]> : tensor<3x4xf32>
  %24 = stablehlo.custom_call @test.identity(%23) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %25 = stablehlo.constant dense<1.0> : tensor<f32>
  %26 = "stablehlo.reduce_window"(%24, %25) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  %27 = stablehlo.constant dense<[[4.352099418640137, 6.799861907958984, 1.1518983840942383], [-3.468292236328125, 1.3403339385986328, 3.3294482231140137]]> : tensor<2x3xf32>
  stablehlo.custom_call @check.expect_eq(%26, %27) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  // So are backward cumulative windows.
  %28 = stablehlo.constant dense<[5.464094161987305, -1.2810941934585571, -3.494105815887451, -4.191222190856934, 2.6179637908935547, -0.6063545346260071]> : tensor<6xf32>
  %29 = stablehlo.custom_call @test.identity(%28) : (tensor<6xf32>) -> tensor<6xf32>
  %30 = stablehlo.constant dense<0.0> : tensor<f32>
  %31 = "stablehlo.reduce_window"(%29, %30) <{window_dimensions = array<i64: 6>, padding = dense<[[0, 5]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %32 = stablehlo.constant dense<[-1.4907186031341553, -6.954813003540039, -5.6737189292907715, -2.179612874984741, 2.0116093158721924, -0.6063545346260071]> : tensor<6xf32>
  stablehlo.custom_call @check.expect_eq(%31, %32) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
  %33 = stablehlo.constant dense<[-1.7950798273086548, -0.730259120464325, 6.2655439376831055, 1.0407580137252808, 2.2371809482574463, 2.3307228088378906]> : tensor<6xf32>
  %34 = stablehlo.custom_call @test.identity(%33) : (tensor<6xf32>) -> tensor<6xf32>
  %35 = stablehlo.constant dense<1.0> : tensor<f32>
  %36 = "stablehlo.reduce_window"(%34, %35) <{window_dimensions = array<i64: 6>, padding = dense<[[0, 5]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %37 = stablehlo.constant dense<[44.5718879699707, -24.830032348632812, 34.001670837402344, 5.4267706871032715, 5.2142486572265625, 2.3307228088378906]> : tensor<6xf32>
  stablehlo.custom_call @check.expect_eq(%36, %37) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
  %38 = stablehlo.constant dense<[3.0546875, 3.18359375, -2.130859375, -0.6455078125, -2.283203125, -2.1328125]> : tensor<6xf16>
  %39 = stablehlo.custom_call @test.identity(%38) : (tensor<6xf16>) -> tensor<6xf16>
  %40 = stablehlo.constant dense<1.0> : tensor<f16>
  %41 = "stablehlo.reduce_window"(%39, %40) <{window_dimensions = array<i64: 6>, padding = dense<[[0, 5]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.multiply %a, %b : tensor<f16>
    stablehlo.return %s : tensor<f16>
  }) : (tensor<6xf16>, tensor<f16>) -> tensor<6xf16>
  %42 = stablehlo.constant dense<[65.125, 21.328125, 6.6953125, -3.142578125, 4.87109375, -2.1328125]> : tensor<6xf16>
  stablehlo.custom_call @check.expect_eq(%41, %42) {has_side_effect = true} : (tensor<6xf16>, tensor<6xf16>) -> ()
  // And a few windows of many elements.
  %43 = stablehlo.constant dense<[[1.1415077447891235, -0.5017555356025696, -0.07915136218070984, -0.6928263306617737, -0.5934027433395386], [0.7882379293441772, -0.4454299807548523, -0.48212018609046936, 0.4935576617717743, 0.5004873275756836], [0.7924225926399231, 0.17076444625854492, -1.753740906715393, 0.6302964687347412, 0.498329222202301], [1.0181375741958618, -0.8464686274528503, 2.5208077430725098, -1.2323861122131348, 0.7269532680511475], [0.04595522582530975, -0.48713263869285583, 0.8161323666572571, -0.28143012523651123, -2.3356218338012695]]> : tensor<5x5xf32>
  %44 = stablehlo.custom_call @test.identity(%43) : (tensor<5x5xf32>) -> tensor<5x5xf32>
  %45 = stablehlo.constant dense<0.0> : tensor<f32>
  %46 = "stablehlo.reduce_window"(%44, %45) <{window_dimensions = array<i64: 5, 5>, padding = dense<[[2, 2], [2, 2]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x5xf32>, tensor<f32>) -> tensor<5x5xf32>
  %47 = stablehlo.constant dense<[[-0.36926519870758057, 0.06176257133483887, 0.4671763777732849, -2.2549917697906494, -1.4785706996917725], [2.323211431503296, 1.5218532085418701, 2.6542201042175293, -1.086085557937622, 0.53680419921875], [2.6981663703918457, 1.6153780221939087, 0.4121232032775879, -3.3741378784179688, -1.2641154527664185], [2.1375656127929688, 1.7476032972335815, 1.137751579284668, -1.5070018768310547, 0.10126495361328125], [2.2768776416778564, 1.3933581113815308, 0.2830185890197754, -1.573496699333191, -0.41065990924835205]]> : tensor<5x5xf32>
  stablehlo.custom_call @check.expect_eq(%46, %47) {has_side_effect = true} : (tensor<5x5xf32>, tensor<5x5xf32>) -> ()
  // Special functions of f32 are accurate to an ulp even where their terms cancel.
  %48 = stablehlo.constant dense<[0.75, 0.9800000190734863, 1.003000020980835, 1.4615999460220337, 1.996999979019165, 2.25, 3.0999999046325684, 7.5, 11.25, -0.4000000059604645, -2.700000047683716, 9.999999974752427e-07]> : tensor<12xf32>
  %49 = stablehlo.custom_call @test.identity(%48) : (tensor<12xf32>) -> tensor<12xf32>
  %50 = chlo.lgamma %49 : tensor<12xf32> -> tensor<12xf32>
  %51 = stablehlo.constant dense<[0.2032809555530548, 0.011876537464559078, -0.0017242676112800837, -0.12148629128932953, -0.0012654578313231468, 0.12487171590328217, 0.7873749732971191, 7.534364223480225, 15.695301055908203, 1.314524531364441, -0.07140703499317169, 13.815509796142578]> : tensor<12xf32>
  stablehlo.custom_call @check.expect_close(%50, %51) {has_side_effect = true, max_ulp_difference = 1 : i64} : (tensor<12xf32>, tensor<12xf32>) -> ()
  %52 = stablehlo.constant dense<[0.30000001192092896, 1.2000000476837158, 1.4500000476837158, 1.5, 2.5, 9.75, -0.30000001192092896, -3.5999999046325684]> : tensor<8xf32>
  %53 = stablehlo.custom_call @test.identity(%52) : (tensor<8xf32>) -> tensor<8xf32>
  %54 = chlo.digamma %53 : tensor<8xf32> -> tensor<8xf32>
  %55 = stablehlo.constant dense<[-3.5025241374969482, -0.28903985023498535, -0.011316375806927681, 0.036489974707365036, 0.7031566500663757, 2.225109577178955, 2.113309621810913, 0.39267629384994507]> : tensor<8xf32>
  stablehlo.custom_call @check.expect_close(%54, %55) {has_side_effect = true, max_ulp_difference = 1 : i64} : (tensor<8xf32>, tensor<8xf32>) -> ()
  %56 = stablehlo.constant dense<[-1.5, 0.20000000298023224, 1.100000023841858, 2.700000047683716, 4.400000095367432, 6.300000190734863, 9.100000381469727]> : tensor<7xf32>
  %57 = stablehlo.custom_call @test.identity(%56) : (tensor<7xf32>) -> tensor<7xf32>
  %58 = chlo.erfc %57 : tensor<7xf32> -> tensor<7xf32>
  %59 = stablehlo.constant dense<[1.9661051034927368, 0.7772974371910095, 0.11979492008686066, 0.00013433270214591175, 4.891705929210843e-10, 5.124209152861605e-19, 6.696853565675474e-38]> : tensor<7xf32>
  stablehlo.custom_call @check.expect_close(%58, %59) {has_side_effect = true, max_ulp_difference = 1 : i64} : (tensor<7xf32>, tensor<7xf32>) -> ()
  %60 = stablehlo.constant dense<[-0.30000001192092896, 0.699999988079071, 2.9000000953674316, 7.900000095367432, 8.100000381469727, 40.0]> : tensor<6xf32>
  %61 = stablehlo.custom_call @test.identity(%60) : (tensor<6xf32>) -> tensor<6xf32>
  %62 = chlo.bessel_i1e %61 : tensor<6xf32> -> tensor<6xf32>
  %63 = stablehlo.constant dense<[-0.11237756162881851, 0.18466998636722565, 0.19877727329730988, 0.13489650189876556, 0.13340067863464355, 0.06248223036527634]> : tensor<6xf32>
  stablehlo.custom_call @check.expect_close(%62, %63) {has_side_effect = true, max_ulp_difference = 1 : i64} : (tensor<6xf32>, tensor<6xf32>) -> ()
  %64 = stablehlo.constant dense<[0.75, 0.98, 1.003, 1.4616, 1.997, 2.25, 3.1, 7.5, 11.25, 1.0e-06]> : tensor<10xf64>
  %65 = stablehlo.custom_call @test.identity(%64) : (tensor<10xf64>) -> tensor<10xf64>
  %66 = chlo.lgamma %65 : tensor<10xf64> -> tensor<10xf64>
  %67 = stablehlo.constant dense<[0.20328095143129538, 0.011876549564077831, -0.001724255588049074, -0.12148629003589732, -0.0012654489818135681, 0.1248717148923966, 0.7873750832738625, 7.534364236758733, 15.695301377060463, 13.815509980749432]> : tensor<10xf64>
  stablehlo.custom_call @check.expect_close(%66, %67) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<10xf64>, tensor<10xf64>) -> ()
  %68 = stablehlo.constant dense<[0.2, 1.1, 2.7, 4.4, 6.3, 9.1]> : tensor<6xf64>
  %69 = stablehlo.custom_call @test.identity(%68) : (tensor<6xf64>) -> tensor<6xf64>
  %70 = chlo.erfc %69 : tensor<6xf64> -> tensor<6xf64>
  %71 = stablehlo.constant dense<[0.7772974107895215, 0.11979493042591827, 0.0001343327399405242, 4.891710270605872e-10, 5.124221687395715e-19, 6.696900427988608e-38]> : tensor<6xf64>
  stablehlo.custom_call @check.expect_close(%70, %71) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<6xf64>, tensor<6xf64>) -> ()
  // Each part of a complex result is rounded about once.
  %72 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %73 = stablehlo.custom_call @test.identity(%72) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %74 = stablehlo.sqrt %73 : tensor<5xcomplex<f64>>
  %75 = stablehlo.constant dense<[(1.0900365801106442, -1.0320754555648095), (0.023619015276229085, 1.323086489192078), (2.1219895011976746, 1.0014187152201397), (0.9998720933656444, 0.01562699879682118), (5.773502691767958e-06, -0.8660254038036836)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%74, %75) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  %76 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %77 = stablehlo.custom_call @test.identity(%76) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %78 = stablehlo.rsqrt %77 : tensor<5xcomplex<f64>>
  %79 = stablehlo.constant dense<[(0.48373842877737433, 0.4580163348315676), (0.013487980870474672, -0.7555677087929562), (0.38541831897327683, -0.18188832583322484), (0.9998836858343275, -0.015627179975489295), (7.698003588339678e-06, 1.1547005383022715)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%78, %79) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  %80 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %81 = stablehlo.custom_call @test.identity(%80) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %82 = stablehlo.log %81 : tensor<5xcomplex<f64>>
  %83 = stablehlo.constant dense<[(0.8124222101767555, -1.5161840187915265), (0.560253136651423, 3.1058935409104693), (1.705780084348851, 0.8818719385800352), (-1.159388441706189e-05, 0.03125545098752487), (-0.28768207236289206, -3.1415793202564606)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%82, %83) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  %84 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %85 = stablehlo.custom_call @test.identity(%84) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %86 = stablehlo.log_plus_one %85 : tensor<5xcomplex<f64>>
  %87 = stablehlo.constant dense<[(0.9221466261123495, -1.1078600817146458), (-0.28422185102949404, 3.058451421701352), (1.822888106848215, 0.7568345055586884), (0.693019265761645, 0.01562763489336513), (-1.3862943603198907, -3.999999997866667e-05)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%86, %87) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  %88 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %89 = stablehlo.custom_call @test.identity(%88) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %90 = stablehlo.sign %89 : tensor<5xcomplex<f64>>
  %91 = stablehlo.constant dense<[(0.0545851651451711, -0.9985091185092274), (-0.9993628543475496, 0.03569153051241249), (0.6357072528610997, 0.7719302356170497), (0.9995115881546507, 0.03125036231098832), (-0.9999999999111111, -1.333333333214815e-05)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%90, %91) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  %92 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %93 = stablehlo.custom_call @test.identity(%92) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %94 = chlo.asin %93 : tensor<5xcomplex<f64>> -> tensor<5xcomplex<f64>>
  %95 = stablehlo.constant dense<[(0.049923776793922625, -1.5512973317065586), (-1.527324230090165, 1.1599618756113022), (0.6808699499871509, 2.400602205156416), (1.3930524059769938, 0.17583640652129745), (-0.8480620788518932, -1.511857891757164e-05)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%94, %95) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  %96 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %97 = stablehlo.custom_call @test.identity(%96) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %98 = chlo.acos %97 : tensor<5xcomplex<f64>> -> tensor<5xcomplex<f64>>
  %99 = stablehlo.constant dense<[(1.520872550000974, 1.5512973317065586), (3.098120556885062, -1.1599618756113022), (0.8899263768077458, -2.400602205156416), (0.1777439208179028, -0.17583640652129745), (2.4188584056467897, 1.511857891757164e-05)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%98, %99) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  %100 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %101 = stablehlo.custom_call @test.identity(%100) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %102 = chlo.acosh %101 : tensor<5xcomplex<f64>> -> tensor<5xcomplex<f64>>
  %103 = stablehlo.constant dense<[(1.5512973317065586, -1.520872550000974), (1.1599618756113022, 3.098120556885062), (2.400602205156416, 0.8899263768077458), (0.17583640652129745, 0.1777439208179028), (1.511857891757164e-05, -2.4188584056467897)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%102, %103) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  %104 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %105 = stablehlo.custom_call @test.identity(%104) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %106 = chlo.asinh %105 : tensor<5xcomplex<f64>> -> tensor<5xcomplex<f64>>
  %107 = stablehlo.constant dense<[(1.452646900580916, -1.5098745415883679), (-1.3263151142706062, 0.031002414831582958), (2.397441320415925, 0.8737407509475162), (0.8811926766284542, 0.02210171298814713), (-0.6931471805791453, -7.999999999993174e-06)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%106, %107) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  %108 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %109 = stablehlo.custom_call @test.identity(%108) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %110 = chlo.atan %109 : tensor<5xcomplex<f64>> -> tensor<5xcomplex<f64>>
  %111 = stablehlo.constant dense<[(1.5406682545661579, -0.47570455304647835), (-1.0520642115370515, 0.01537468056927238), (1.4535884889329913, 0.13921807549741796), (0.7853923636225612, 0.01563027057686113), (-0.6435011088240044, -6.399999999939926e-06)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%110, %111) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  %112 = stablehlo.constant dense<[(0.123, -2.25), (-1.75, 0.0625), (3.5, 4.25), (0.9995, 0.03125), (-0.75, -1.0e-05)]> : tensor<5xcomplex<f64>>
  %113 = stablehlo.custom_call @test.identity(%112) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  %114 = chlo.atanh %113 : tensor<5xcomplex<f64>> -> tensor<5xcomplex<f64>>
  %115 = stablehlo.constant dense<[(0.020249218520574784, -1.1534966168302545), (-0.6480404802466053, 1.5405873912714965), (0.11369639807944128, 1.4296774498061953), (2.079313592471288, 0.78521266340596), (-0.9729550741358199, -2.2857142846445093e-05)]> : tensor<5xcomplex<f64>>
  stablehlo.custom_call @check.expect_close(%114, %115) {has_side_effect = true, max_ulp_difference = 3 : i64} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
  return
}
