// Rigid dynamics of a closed robot in MuJoCo, loops closed by `connect` constraints between sites:
//   projected   inverse dynamics: mj_inverse, the soft constraint forces taken out again, one solve with the passive columns
//   forward     direct dynamics: mj_forward, as MuJoCo comes, and with constraints as stiff as it accepts
#include "measure.hpp"

#include <mujoco/mujoco.h>

#include <cstdio>
#include <functional>
#include <memory>

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

struct Inertia {
    double mass;
    Vector3d com, moments;
    Eigen::Quaterniond axes;

    // With a point mass added.
    explicit Inertia(const json::value &x, double more = 0.0, const Vector3d &at = Vector3d::Zero()) {
        mass = x.at("mass").to_number<double>() + more;
        com = (vector(x.at("first_moment")) + more * at) / mass;
        const auto point = [](double m, const Vector3d &p) { return Matrix3d(m * (p.dot(p) * Matrix3d::Identity() - p * p.transpose())); };
        const Matrix3d I = matrix3(x.at("inertia")) + point(more, at) - point(mass, com);
        const Eigen::SelfAdjointEigenSolver<Matrix3d> principal(I);
        Matrix3d R = principal.eigenvectors();
        if (R.determinant() < 0) R.col(0) *= -1.0;
        axes = Eigen::Quaterniond(R);
        moments = principal.eigenvalues();
    }
};

static std::string words(const Eigen::Ref<const VectorXd> &v) {
    std::string out;
    for (double x : v) {
        char text[32];
        std::snprintf(text, sizeof text, "%.17g ", x);
        out += text;
    }
    return out;
}

static std::string words(const Eigen::Quaterniond &q) { return words(Eigen::Vector4d(q.w(), q.x(), q.y(), q.z())); }

static std::string placed(const json::value &frame) {
    return "pos='" + words(vector(frame.at("p"))) + "' quat='" + words(Eigen::Quaterniond(matrix3(frame.at("R")))) + "'";
}

// MuJoCo refuses inertias that no body has, such as grouped parameters: moments are put in after compiling.
static std::string inertial(const Inertia &I) {
    return "<inertial mass='" + words(VectorXd::Constant(1, I.mass)) + "' pos='" + words(I.com) + "' quat='" + words(I.axes) +
           "' diaginertia='1 1 1'/>";
}

// Inertias of the bodies. MuJoCo factors the inertia matrix of the cut tree, which grouped parameters may leave indefinite.
// Where a closure joins two bodies at a point, moving a point mass from one to the other changes nothing in the closed robot:
// both get the same mass, and each branch can stand alone.
static std::vector<Inertia> inertias(const json::value &robot) {
    const auto &bodies = robot.at("bodies").as_array();
    std::vector<Inertia> all;
    for (const auto &b : bodies) all.emplace_back(b.at("inertia"));
    for (const auto &c : robot.at("closures").as_array()) {
        const json::value *sides[] = {&c.at("a"), &c.at("b")};
        if (sides[0]->at("on").is_string() || sides[1]->at("on").is_string()) continue;
        const int on[] = {sides[0]->at("on").to_number<int>(), sides[1]->at("on").to_number<int>()};
        const double moved = 0.5 * (all[on[1]].mass - all[on[0]].mass);
        for (int k : {0, 1})
            all[on[k]] = Inertia(bodies[on[k]].at("inertia"), k ? -moved : moved, vector(sides[k]->at("frame").at("p")));
    }
    return all;
}

// MJCF of the robot. Bodies are named b0, b1 ..
static std::string mjcf(const json::value &robot, const std::vector<Inertia> &masses) {
    const auto &bodies = robot.at("bodies").as_array();
    std::vector<std::string> sites(bodies.size());
    std::string on_platform, equality;
    int count = 0;
    for (const auto &c : robot.at("closures").as_array()) {
        for (const char *key : {"a", "b"}) {
            const auto &side = c.at(key);
            const std::string site = "<site name='" + std::string(key) + std::to_string(count) + "' " + placed(side.at("frame")) + "/>";
            (side.at("on").is_string() ? on_platform : sites[side.at("on").to_number<int>()]) += site;
        }
        const std::string n = std::to_string(count++);
        equality += "<connect site1='a" + n + "' site2='b" + n + "'/>";
    }
    const std::function<std::string(int)> below = [&](int parent) {
        std::string out;
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            const auto &on = bodies[b].at("parent");
            if ((on.is_string() ? -1 : on.to_number<int>()) != parent) continue;
            const std::string kind = bodies[b].at("joint").as_string() == "R" ? "hinge" : "slide";
            out += "<body name='b" + std::to_string(b) + "' " + placed(bodies[b].at("frame")) + ">" +
                   "<joint axis='0 0 1' type='" + kind + "' armature='" + words(VectorXd::Constant(1, bodies[b].at("rotor").to_number<double>())) +
                   "'/>" + inertial(masses[b]) + sites[b] + below(b) + "</body>";
        }
        return out;
    };
    std::string platform;
    if (!robot.at("platform").is_null())
        platform = "<body name='platform'><freejoint/>" + inertial(Inertia(robot.at("platform"))) + on_platform + "</body>";
    return "<mujoco><compiler angle='radian' autolimits='false'/><option jacobian='dense' gravity='" + words(vector(robot.at("gravity"))) +
           "'/><worldbody>" + platform + below(-1) + "</worldbody><equality>" + equality + "</equality></mujoco>";
}

struct Robot {
    json::value file;
    std::unique_ptr<mjModel, void (*)(mjModel *)> model{nullptr, mj_deleteModel};
    std::unique_ptr<mjData, void (*)(mjData *)> data{nullptr, mj_deleteData};
    int platform;                       // 6 freedoms first, or none
    std::vector<int> place;             // of each coordinate
    std::vector<int> active, passive;   // places
    std::vector<VectorXd> q, v, a, tau, wanted;

    explicit Robot(const char *path) : file(read(path)) {
        const std::string xml = std::string(path) + ".xml";
        const auto masses = inertias(file);
        std::ofstream(xml) << mjcf(file, masses);
        char error[1000] = "";
        model.reset(mj_loadXML(xml.c_str(), nullptr, error, sizeof error));
        if (!model) throw std::runtime_error(error);
        data.reset(mj_makeData(model.get()));
        platform = file.at("platform").is_null() ? 0 : 6;
        const auto &bodies = file.at("bodies").as_array();
        place.resize(bodies.size());
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            const int id = mj_name2id(model.get(), mjOBJ_BODY, ("b" + std::to_string(b)).c_str());
            place[bodies[b].at("coordinate").to_number<int>()] = model->body_dofadr[id];
            weigh(id, masses[b]);
        }
        if (platform) weigh(mj_name2id(model.get(), mjOBJ_BODY, "platform"), Inertia(file.at("platform")));
        mj_setConst(model.get(), data.get());
        for (int c : integers(file.at("active"))) active.push_back(place[c]);
        for (int k = 0; k < model->nv; ++k)
            if (std::find(active.begin(), active.end(), k) == active.end()) passive.push_back(k);
        for (const auto &s : file.at("states").as_array()) add(s);
    }

    void weigh(int body, const Inertia &I) { Eigen::Map<Vector3d>(model->body_inertia + 3 * body) = I.moments; }

    VectorXd joints(const VectorXd &of, int first) const {
        VectorXd all = VectorXd::Zero(first ? model->nq : model->nv);
        for (std::size_t c = 0; c < place.size(); ++c) all[place[c] + first] = of[c];
        return all;
    }

    // A free body's rates: velocity in world axes, angular velocity in its own.
    void add(const json::value &s) {
        q.push_back(joints(vector(s.at("q")), platform ? 1 : 0));
        v.push_back(joints(vector(s.at("qd")), 0));
        a.push_back(joints(vector(s.at("qdd")), 0));
        wanted.push_back(joints(vector(s.at("other_qdd")), 0));
        VectorXd efforts = VectorXd::Zero(model->nv);
        const VectorXd given = vector(s.at("other_efforts"));
        for (std::size_t k = 0; k < active.size(); ++k) efforts[active[k]] = given[k];
        tau.push_back(efforts);
        if (!platform) return;
        const Matrix3d R = matrix3(s.at("platform").at("R"));
        const Eigen::Quaterniond turn(R);
        q.back().head<3>() = vector(s.at("platform").at("p"));
        q.back().segment<4>(3) << turn.w(), turn.x(), turn.y(), turn.z();
        const auto local = [&](VectorXd &to, const VectorXd &six) { to.head<6>() << six.head<3>(), R.transpose() * six.tail<3>(); };
        local(v.back(), vector(s.at("twist")));
        local(a.back(), vector(s.at("acceleration")));
        local(wanted.back(), vector(s.at("other_acceleration")));
    }

    const VectorXd forward(std::size_t i) {
        mju_copy(data->qpos, q[i].data(), model->nq);
        mju_copy(data->qvel, v[i].data(), model->nv);
        mju_copy(data->qfrc_applied, tau[i].data(), model->nv);
        mj_forward(model.get(), data.get());
        return Eigen::Map<VectorXd>(data->qacc, model->nv);
    }

    // Tree: tau = S efforts + J^T lambda.
    template <int C> VectorXd efforts(std::size_t i) {
        constexpr int rows = C == 2 ? 2 : 3;
        mju_copy(data->qpos, q[i].data(), model->nq);
        mju_copy(data->qvel, v[i].data(), model->nv);
        mju_copy(data->qacc, a[i].data(), model->nv);
        mj_inverse(model.get(), data.get());
        const VectorXd all = Eigen::Map<VectorXd>(data->qfrc_inverse, model->nv) + Eigen::Map<VectorXd>(data->qfrc_constraint, model->nv);
        const auto J = [&](int row, int k) { return data->efc_J[(row / rows * 3 + row % rows) * model->nv + k]; };
        Eigen::Matrix<double, C, C> P;
        Eigen::Matrix<double, C, 1> t;
        for (int k = 0; k < C; ++k) {
            for (int row = 0; row < C; ++row) P(k, row) = J(row, passive[k]);
            t[k] = all[passive[k]];
        }
        const Eigen::Matrix<double, C, 1> lambda = P.partialPivLu().solve(t);
        VectorXd out(active.size());
        for (std::size_t k = 0; k < active.size(); ++k) {
            out[k] = all[active[k]];
            for (int row = 0; row < C; ++row) out[k] -= J(row, active[k]) * lambda[row];
        }
        return out;
    }

    // As stiff as MuJoCo accepts.
    void stiffen() {
        for (int e = 0; e < model->neq; ++e) {
            model->eq_solref[mjNREF * e] = 2.0 * model->opt.timestep;
            model->eq_solimp[mjNIMP * e] = model->eq_solimp[mjNIMP * e + 1] = 0.9999;
        }
    }
};

static void row(json::array &out, const Robot &robot, const char *task, const char *how, double error, json::object times) {
    times["robot"] = robot.file.at("robot");
    times["task"] = task;
    times["by"] = how;
    times["error"] = error;
    out.push_back(times);
}

template <int C> static void compare(Robot &robot, json::array &out) {
    const auto &states = robot.file.at("states").as_array();
    double error = 0.0;
    for (std::size_t i = 0; i < states.size(); ++i)
        error = std::max(error, apart(robot.efforts<C>(i), vector(states[i].at("efforts"))));
    row(out, robot, "idm", "MuJoCo, mj_inverse and projection", error,
        measured(states.size(), [&](std::size_t i) { keep(robot.efforts<C>(i)); }));
    for (const char *how : {"MuJoCo, mj_forward", "MuJoCo, mj_forward, stiffest"}) {
        error = 0.0;
        for (std::size_t i = 0; i < states.size(); ++i) error = std::max(error, apart(robot.forward(i), robot.wanted[i]));
        row(out, robot, "ddm", how, error, measured(states.size(), [&](std::size_t i) { keep(robot.forward(i)); }));
        robot.stiffen();
    }
}

int main(int count, char **words) {
    mju_user_warning = [](const char *message) { throw std::runtime_error(std::string("MuJoCo: ") + message); };
    try {
        json::array out;
        for (int k = 1; k < count; ++k) {
            Robot robot(words[k]);
            if (robot.platform) {
                compare<18>(robot, out);
            } else {
                compare<2>(robot, out);
            }
        }
        std::cout << json::serialize(out) << std::endl;
    } catch (const std::exception &e) {
        std::cerr << e.what() << std::endl;
        return 1;
    }
}
